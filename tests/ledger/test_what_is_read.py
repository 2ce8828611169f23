"""A question to the ledger reads what it is about and no more; what damage hides is not called absent."""

from __future__ import annotations

import shlex
import sqlite3
import sys
from collections.abc import Callable

import pytest

from skills.lib.errors import LedgerError
from skills.lib.ledger import Ledger, verification
from skills.lib.testing.agent import Agent
from tests.fixtures.kinds import Kind

Factory = Callable[[str], Agent]


def change(kind: Kind, agent: Agent, *statements: str) -> None:
    kind.edit(agent.project / ".lockstep", *statements)


def test_a_run_that_is_not_there_is_unknown_even_if_another_one_is_damaged(agent: Factory, kind: Kind) -> None:
    tour = agent("tour")
    run = tour.open(topic="why it is slow").run
    change(kind, tour, f"UPDATE runs SET sum='' WHERE id='{run}'")
    with Ledger(str(tour.project / ".lockstep")) as ledger:
        assert ledger.run("abcdefgh") is None
        with pytest.raises(LedgerError, match="wrong checksum"):
            verification.verify(ledger)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM runs WHERE id='{run}'",
        "UPDATE runs SET id='other' WHERE id='{run}'",
        "DELETE FROM runs WHERE id='{child}'",
        "DELETE FROM runs WHERE id='{child}'; DELETE FROM events WHERE run='{child}'",
        "DELETE FROM runs WHERE id='{run}'; DELETE FROM events WHERE run='{run}'",
    ],
)
def test_a_run_that_events_or_another_run_name_is_damage_and_not_unknown(
    agent: Factory, kind: Kind, statement: str
) -> None:
    brood = agent("brood")
    block = brood.follow(brood.open(), targets='["north", "south"]')
    wanted = block.children[1].id if "{child}" in statement else block.run
    change(kind, brood, *statement.format(run=block.run, child=wanted).split("; "))
    shown = brood.show(wanted)
    assert (shown.exit_code, shown.text) == (4, "")
    assert "is damaged" in shown.errors


def test_a_sub_agent_that_a_run_never_had_is_unknown(agent: Factory, kind: Kind) -> None:
    brood = agent("brood")
    block = brood.follow(brood.open(), targets='["north"]')
    with Ledger(str(brood.project / ".lockstep")) as ledger:
        assert [ledger.run(f"{block.run}.{number}") for number in (0, 2, "x", "1.1", 10**20)] == [None] * 5


def test_an_opening_reads_no_run_with_other_parameters(agent: Factory, kind: Kind) -> None:
    tour = agent("tour")
    runs = sorted(tour.open(topic=f"topic {number}").run for number in range(6))
    change(kind, tour, f"UPDATE runs SET sum='' WHERE id='{runs[-1]}'")
    opened = tour.open(topic="another one")
    assert opened.exit_code == 0
    assert opened.text.count("Another run of this skill is open") == 3
    assert "3 more runs of this skill are open" in opened.text


INDEXES = ("runs_by_status", "runs_by_parent")


@pytest.mark.parametrize("index", INDEXES)
@pytest.mark.parametrize("loss", ["DELETE FROM runs WHERE id='{run}'", "UPDATE runs SET params='x' WHERE id='{run}'"])
def test_a_run_that_one_index_has_lost_is_damage_at_an_opening(agent: Factory, index: str, loss: str) -> None:
    tour = agent("tour")
    block = tour.open(topic="why it is slow")
    tour.follow(block, summary="s")
    connection = sqlite3.connect(tour.project / ".lockstep" / "runs.db", isolation_level=None)
    [row] = connection.execute("SELECT * FROM sqlite_master WHERE name=?", (index,)).fetchall()
    connection.executescript(f"PRAGMA writable_schema=ON; DELETE FROM sqlite_master WHERE name='{index}'")
    connection.close()
    connection = sqlite3.connect(tour.project / ".lockstep" / "runs.db", isolation_level=None)
    connection.execute(loss.format(run=block.run))  # the index does not hear of it
    connection.execute("PRAGMA writable_schema=ON")
    connection.execute("INSERT INTO sqlite_master VALUES(?,?,?,?,?)", row)
    connection.close()
    again = tour.open(topic="why it is slow")
    assert (again.exit_code, again.text) == (4, "")
    assert "its two indexes list different runs of 'tour'" in again.errors


def test_a_refusal_lists_the_last_moved_runs_and_counts_the_others(agent: Factory, kind: Kind) -> None:
    tour = agent("tour")
    runs = [tour.open(topic=f"topic {number}").run for number in range(43)]
    start = shlex.join([sys.executable, tour.script, "--project", str(tour.project)])
    refused = tour.run_command(f"{start} --step current --run abcdefgh")
    assert (refused.exit_code, refused.code) == (3, "unknown-run")
    assert runs[-1] in refused.valid[0]
    assert "3 more runs of this skill are open." in refused.why
    assert len(refused.text) < 10_000
