"""The doctor: examines what is installed on this machine and in this project, and says what is wrong and what to do.

One check is one small function of this room, named in ``registry``. An error in a check is itself a result, so that the
doctor can be called if everything is broken; ``python -m skills.lib.hosts.doctor`` is the way in if even the
``lockstep`` command cannot be loaded.
"""
