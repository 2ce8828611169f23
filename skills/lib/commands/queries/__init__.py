"""Finds what a person names: skills and their workflows, runs and their records."""
