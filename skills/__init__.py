"""Lockstep: coding agents follow skills, one printed step at a time."""

__version__ = "0.1.0"
