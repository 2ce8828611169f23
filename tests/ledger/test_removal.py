"""Runs are removed: ended ones, and those that damage made unreadable; what others refer to stays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from skills.lib.compact_json import digest
from skills.lib.engine.decision import Move
from skills.lib.errors import LedgerError, RefusedError
from skills.lib.ledger import Ledger, new_id, removal, verification
from skills.lib.model.run import Run
from tests.fixtures.kinds import Kind

DEFINITION = {"name": "w"}
FINGERPRINT = digest(DEFINITION)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def ledger(home: Path, kind: Kind) -> Iterator[Ledger]:
    with Ledger(str(home)) as made:
        yield made


def opened(ledger: Ledger, **fields: Any) -> Run:
    run = Run(id=new_id(), workflow="w", fingerprint=FINGERPRINT, project="/p", step="a").changed(**fields)
    return ledger.commit(None, Move(run, "opened", {}), "agent", DEFINITION)


def with_sub_agents(ledger: Ledger) -> Run:
    spec = {"agent": "explore", "number": 1, "step": "a", "task": "look", "values": {}, "forbidden": []}
    run = opened(ledger)
    return ledger.commit(run, Move(run.changed(turn=2), "moved", {}, (spec, {**spec, "number": 2})), "agent")


def change(kind: Kind, home: Path, *statements: str) -> None:
    assert all(kind.edit(home, *statements)), statements


def test_a_run_that_goes_on_is_not_removed_nor_are_the_others_with_it(ledger: Ledger) -> None:
    ended, going_on = opened(ledger, status="done", step=None), opened(ledger)
    with pytest.raises(RefusedError, match=f"run {going_on.id} goes on: its record stays"):
        removal.remove(ledger, [ended.id, going_on.id])
    assert {run.id for run in ledger.every_run()} == {ended.id, going_on.id}
    removal.remove(ledger, [ended.id])
    assert [run.id for run in ledger.every_run()] == [going_on.id]


class Watched(Ledger):
    """A ledger in which another process opens a run while all runs are read."""

    home: str

    def each_run(self, where: str = "1=1", values: Any = ()) -> Iterator[Run]:
        yield from super().each_run(where, values)
        with Ledger(self.home) as other:
            self.opened_meanwhile = opened(other).id


def test_nobody_waits_while_runs_are_read_and_what_opens_meanwhile_keeps_its_definition(
    ledger: Ledger, home: Path, kind: Kind
) -> None:
    ended = opened(ledger, status="done", step=None)
    with closing(Watched(str(home))) as watched:
        watched.home = str(home)
        removal.remove(watched, [ended.id])
        assert [run.id for run in ledger.every_run()] == [watched.opened_meanwhile]
    verification.verify(ledger)
    assert ledger.definition(FINGERPRINT) == DEFINITION


DAMAGE = {
    "a wrong sum": "UPDATE runs SET sum='0' WHERE id='{run}'",
    "no JSON": "UPDATE runs SET data='{{' WHERE id='{run}'",
    "another status": "UPDATE runs SET status='done' WHERE id='{run}'",
    "of a sub-agent": "UPDATE runs SET sum='0' WHERE id='{run}.2'",
    "a sub-agent is lost": "DELETE FROM runs WHERE id='{run}.1'",
    "an event is lost": "DELETE FROM events WHERE run='{run}' AND kind='moved'",
    "an event has another sum": "UPDATE events SET detail='{{\"a\":1}}' WHERE run='{run}' AND kind='opened'",
    "the run is lost": "DELETE FROM runs WHERE id='{run}'",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_run_that_cannot_be_read_is_found_and_taken_out_with_its_sub_agents(
    ledger: Ledger, home: Path, kind: Kind, damage: str
) -> None:
    broken, whole = with_sub_agents(ledger), with_sub_agents(ledger)
    assert removal.unreadable(ledger) == {}
    change(kind, home, DAMAGE[damage].format(run=broken.id))
    with pytest.raises(LedgerError):
        verification.verify(ledger)
    found = removal.unreadable(ledger)
    [(fault, tree)] = found.values()
    assert list(found) == [broken.id]
    assert broken.id in fault
    removal.remove_unreadable(ledger, tree)
    verification.verify(ledger)
    assert {run.id for run in ledger.every_run()} == {whole.id, f"{whole.id}.1", f"{whole.id}.2"}
    assert removal.unreadable(ledger) == {}


def test_a_definition_that_is_lost_makes_all_of_its_runs_unreadable(ledger: Ledger, home: Path, kind: Kind) -> None:
    run = opened(ledger)
    change(kind, home, "UPDATE definitions SET sum='0'")
    assert list(removal.unreadable(ledger)) == [run.id]
    removal.remove_unreadable(ledger, [run.id])
    verification.verify(ledger)
    opened(ledger)
    verification.verify(ledger)


def test_a_note_about_a_run_that_there_is_not_is_damage(ledger: Ledger, home: Path, kind: Kind) -> None:
    run = opened(ledger)
    ledger.note(run.id, 1, "refused", "agent", {})
    change(kind, home, "UPDATE events SET run='nosuchrun' WHERE kind='refused'")
    with pytest.raises(LedgerError, match="its events do not lead to run nosuchrun"):
        verification.verify(ledger)
    assert list(removal.unreadable(ledger)) == ["nosuchrun"]
    removal.remove_unreadable(ledger, ["nosuchrun"])
    verification.verify(ledger)
    assert ledger.run(run.id) == run


def test_nothing_is_noted_of_a_run_that_was_removed_meanwhile(ledger: Ledger) -> None:
    run = opened(ledger, status="done", step=None)
    removal.remove(ledger, [run.id])
    ledger.note(run.id, 1, "refused", "agent", {})
    assert ledger.events() == []
    verification.verify(ledger)


def test_a_ledger_without_a_number_for_the_next_event_is_damaged_and_the_disk_is_not_full(
    ledger: Ledger, home: Path, kind: Kind
) -> None:
    run = opened(ledger)
    last = f"UPDATE ledger SET last={(1 << 63) - 2}"
    change(kind, home, last if kind.is_shared else f"UPDATE sqlite_sequence SET seq={(1 << 63) - 1}")
    for call in (
        lambda: ledger.note(run.id, 1, "refused", "agent", {}),
        lambda: opened(ledger),
        lambda: verification.verify(ledger),
        lambda: removal.unreadable(ledger),
    ):
        with pytest.raises(LedgerError, match="is damaged: no number is left for another event") as told:
            call()
        assert "disk" not in told.value.remedy
    assert ledger.run(run.id) == run
