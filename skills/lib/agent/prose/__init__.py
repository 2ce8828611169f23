"""Ordinary skills: a SKILL.md without a graph, followed as a workflow that is made of it when its run opens."""
