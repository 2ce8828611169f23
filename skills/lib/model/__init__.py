"""What a workflow and a run are: pure values."""
