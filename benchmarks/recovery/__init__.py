"""How many failures of tools a run of an ordinary SKILL.md recovers from, by three temperaments of scripted models."""
