"""A run and its sub-agents' runs as one page: what happened, by which way, and how each finding ended."""
