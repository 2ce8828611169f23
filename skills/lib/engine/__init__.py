"""What a request does to a run: pure functions."""
