"""The fixture skills and the agents that walk them, each test in a project with its ledger inside."""

from tests.fixtures.agents import agent, ledger_in_the_project, library, project, repository

__all__ = ["agent", "ledger_in_the_project", "library", "project", "repository"]
