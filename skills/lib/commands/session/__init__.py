"""A session of an agent at a terminal: it is driven in a thread, and shown while it runs."""
