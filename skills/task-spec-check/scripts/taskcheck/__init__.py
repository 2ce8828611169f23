"""Judges the work on one task: what it may change, what must be so, what proves that, and what is written then."""
