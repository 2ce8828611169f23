"""The settings of sessions: their limits and switches, and the files that set them."""
