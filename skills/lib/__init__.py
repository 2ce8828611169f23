"""The floors of Lockstep; a lower floor never imports a higher one (tests/test_floors.py)."""
