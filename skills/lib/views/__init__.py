"""What is shown of runs and graphs, by commands and on pages: records, pictures, the page of a run."""
