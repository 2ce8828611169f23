"""Layered skills: which skill a phase of work gets, and what they change for the agent. Prose made a workflow."""
