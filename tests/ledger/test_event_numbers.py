"""Events have numbers that rise and are never given again, so a reader goes on where it was."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockstep import Ledger, LedgerError, Run
from skills.lib.engine.decision import Move
from skills.lib.ledger import removal
from tests.fixtures.kinds import Kind


@pytest.fixture
def ledger(tmp_path: Path, kind: Kind) -> Ledger:
    return Ledger(str(tmp_path / "home"))


def opened(ledger: Ledger, name: str) -> Run:
    run = Run(id=name, workflow="w", fingerprint="f", project="/p", step="a")
    return ledger.commit(None, Move(run, "opened", {}), "agent", {"name": "w"})


def moved(ledger: Ledger, run: Run, **fields: object) -> Run:
    return ledger.commit(run, Move(run.changed(turn=run.turn + 1, **fields), "moved", {}), "agent")


def test_no_event_gets_the_number_of_one_that_was_removed(ledger: Ledger) -> None:
    first = moved(ledger, opened(ledger, "first"), status="done", step=None)
    cursor = ledger.events()[-1].seq
    removal.remove(ledger, [first.id])
    assert ledger.events_after(cursor) == []
    opened(ledger, "second")
    [event] = ledger.events_after(cursor)
    assert (event.seq, event.run) == (cursor + 1, "second")


def test_a_cursor_stays_valid_if_the_runs_before_it_are_removed(ledger: Ledger) -> None:
    ended = moved(ledger, opened(ledger, "ended"), status="done", step=None)
    kept = opened(ledger, "kept")
    cursor = ledger.events_after()[-1].seq
    removal.remove(ledger, [ended.id])
    moved(ledger, kept)
    assert [(event.run, event.kind) for event in ledger.events_after(cursor)] == [("kept", "moved")]


def test_as_many_events_are_given_as_are_asked_for(ledger: Ledger) -> None:
    run = opened(ledger, "one")
    for _ in range(4):
        run = moved(ledger, run)
    assert [event.turn for event in ledger.events_after(limit=2)] == [1, 2]
    assert [event.seq for event in ledger.events_after(cursor=2, limit=2)] == [3, 4]
    assert ledger.events_after(cursor=5) == []


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=st.lists(st.integers(0, 3), max_size=20), limit=st.integers(1, 5))
def test_page_after_page_gives_every_event_once_and_in_order(
    tmp_path: Path, kind: Kind, moves: list[int], limit: int
) -> None:
    ledger = kind.new(tmp_path)
    runs: dict[int, Run] = {}
    for at in moves:
        runs[at] = moved(ledger, runs[at]) if at in runs else opened(ledger, f"run{at}")
    pages, cursor = [], 0
    while page := ledger.events_after(cursor, limit):
        pages += page
        cursor = page[-1].seq
    assert [event.fields() for event in pages] == [event.fields() for event in ledger.events()]
    assert len(pages) == len(moves)
    ledger.close()


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE events SET detail='{\"a\":1}' WHERE seq=3",
        "UPDATE events SET run='other' WHERE seq=3",
        "UPDATE events SET sum='' WHERE seq=2",
        "DELETE FROM events WHERE seq=2",
    ],
)
def test_an_event_after_a_cursor_follows_from_the_one_before_it_or_is_damage(
    ledger: Ledger, tmp_path: Path, kind: Kind, edit: str
) -> None:
    moved(ledger, moved(ledger, opened(ledger, "one")))
    assert [event.seq for event in ledger.events_after(2)] == [3]
    kind.edit(tmp_path / "home", edit)
    with pytest.raises(LedgerError, match=r"event 3 of run .* has a wrong checksum or field"):
        ledger.events_after(2)
