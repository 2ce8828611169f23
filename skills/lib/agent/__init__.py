"""The autonomous host: a session of a model that follows a run, and what it leaves behind."""
