"""Many runs by workers: they are submitted, followed, looked at and drained."""
