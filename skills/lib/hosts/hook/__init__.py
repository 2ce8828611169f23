"""The hook: one Python program that every host starts for its events."""
