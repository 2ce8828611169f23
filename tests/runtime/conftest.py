"""The fixture skills and the agents that walk them, each test in a project with its ledger inside or on PostgreSQL."""

from tests.fixtures.agents import agent, ledger_in_the_project, library, project, repository, skill
from tests.fixtures.kinds import closed_connections, kind
from tests.fixtures.postgres import database_url, postgres

__all__ = [
    "agent",
    "closed_connections",
    "database_url",
    "kind",
    "ledger_in_the_project",
    "library",
    "postgres",
    "project",
    "repository",
    "skill",
]
