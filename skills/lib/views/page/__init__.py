"""The page of a run: one renderer for the file of ``lockstep trace --html`` and for the run explorer."""
