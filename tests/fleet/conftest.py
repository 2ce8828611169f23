"""Each test of a fleet has its ledger in its project, and no variable of a worker outlives it."""

from __future__ import annotations

import pytest

from skills.lib.fleet.worker import OF


@pytest.fixture(autouse=True)
def ledger_of_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OF, "")  # so that it is put back
    monkeypatch.delenv(OF)
    monkeypatch.delenv("LOCKSTEP_HOME")
