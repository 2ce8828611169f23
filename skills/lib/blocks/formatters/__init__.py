"""Functions for authors, values in and rendered text out: fragments among a step's actions, and whole steps."""
