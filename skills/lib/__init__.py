"""The floors of Lockstep; a lower floor never imports a higher one (tests/test_floors.py)."""

__version__ = "0.1.0"
