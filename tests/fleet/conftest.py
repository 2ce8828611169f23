"""Each test of a fleet has its ledger in its project, and no variable of a worker outlives it."""

from __future__ import annotations

import pytest

from skills.lib.fleet.worker import OF
from tests.fixtures.kinds import closed_connections, kind
from tests.fixtures.postgres import database_url, postgres

__all__ = ["closed_connections", "database_url", "kind", "ledger_of_the_project", "postgres"]


@pytest.fixture(autouse=True)
def ledger_of_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OF, "")  # so that it is put back
    monkeypatch.delenv(OF)
    monkeypatch.delenv("LOCKSTEP_HOME")
