"""The names that the graph of a skill imports: what a workflow is made of, and its registration."""
