"""The forms in which hosts record a session, one module each."""
