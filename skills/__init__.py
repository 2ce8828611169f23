"""Lockstep: coding agents follow skills, one printed step at a time."""

from skills.lib import __version__ as __version__
