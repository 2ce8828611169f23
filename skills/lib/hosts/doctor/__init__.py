"""Looks at what is installed on this machine and in this project, and says what is wrong and what to do.

One check is one small function of this room, named in ``registry``. What a check trips over is itself a result, so
that the doctor can be called where everything is broken; ``python -m skills.lib.hosts.doctor`` is the way in where
even the ``lockstep`` command cannot be loaded.
"""
