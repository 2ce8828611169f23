"""A small ledger whose tables have no end, as a cloned project may bring it, is damage and hangs nothing."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skills.lib.errors import LedgerError
from skills.lib.ledger import Ledger, database, listing, verification
from skills.lib.testing.agent import Agent
from tests.fixtures import endless
from tests.fixtures.skill import ROOT

Factory = Callable[[str], Agent]
TABLES = ("runs", "runs_by_status", "runs_by_parent", "events", "events_of_run", "definitions")
DAMAGED = r"is damaged: \*\*\* in database main \*\*\*\nOn tree page \d+ cell \d+: (2nd reference|Rowid 1 out of order)"
# What hung on a tree of that name, for ever.
HUNG = [
    ("runs", "lockstep stats"),
    ("runs_by_status", "lockstep list"),
    ("runs_by_status", "--step current --run zzzzzzzz"),
    ("runs_by_parent", "lockstep runs"),
    ("runs_by_parent", "lockstep resume"),
    ("runs_by_parent", "lockstep prune --dry-run"),
    ("runs_by_parent", "--step 1 --topic another"),
    ("runs_by_status", "lockstep doctor"),
]


def ledger_of(agent: Agent) -> Path:
    return agent.project / ".lockstep" / "runs.db"


@pytest.mark.parametrize("table, command", HUNG)
def test_a_query_without_an_end_is_damage_within_seconds(agent: Factory, table: str, command: str) -> None:
    tour = agent("tour")
    tour.open(topic="why it is slow")
    endless.plant(ledger_of(tour), table)
    assert ledger_of(tour).stat().st_size < 150_000
    lockstep = [sys.executable, "-P", str(ROOT / "skills" / "__main__.py")]
    called = [*lockstep, *command.split()[1:]] if command.startswith("lockstep") else [sys.executable, tour.script]
    words = [] if command.startswith("lockstep") else command.split()
    began = time.monotonic()
    done = subprocess.run(
        [*called, *words, "--project", str(tour.project)], capture_output=True, text=True, timeout=60, check=False
    )
    assert time.monotonic() - began < 20
    assert done.returncode == {"lockstep list": 0, "lockstep doctor": 1}.get(command, 4), done.stderr
    assert "runs.db is damaged: " in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("table", TABLES)
def test_no_run_is_read_from_a_table_without_an_end(agent: Factory, table: str) -> None:
    tour = agent("tour")
    tour.open(topic="why it is slow")
    endless.plant(ledger_of(tour), table)
    with Ledger(str(ledger_of(tour).parent), create=False) as ledger:
        with pytest.raises(LedgerError, match=DAMAGED):
            list(ledger.each_run())
        with pytest.raises(LedgerError, match=DAMAGED):
            verification.verify(ledger)


def test_a_query_of_a_large_ledger_is_not_taken_for_one_without_an_end(
    agent: Factory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_LEAST_WORK", 0)
    monkeypatch.setattr(database, "_WORK", 1_000)
    tour = agent("tour")
    for number in range(40):
        tour.open(topic=f"topic {number}")
    with Ledger(str(ledger_of(tour).parent), create=False) as ledger:
        verification.verify(ledger)
        found: list[list[Any]] = [
            ledger.every_run(),
            listing.last_moved(ledger, 50),
            list(listing.roots(ledger)),
            ledger.events(),
        ]
        assert [len(one) for one in found] == [40, 40, 40, 40]
        assert listing.last_ended(ledger, lambda run: run.ended) is None
