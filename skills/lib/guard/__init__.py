"""The guard: conditions on calls of tools, decided by what the results of tools showed."""
