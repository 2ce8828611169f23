"""How many deviations of an agent are refused, and how many honest runs are disturbed: scripted agents, seeded."""
