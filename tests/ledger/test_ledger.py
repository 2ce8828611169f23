"""The record itself: what is committed is what replaying its events gives, whoever else writes beside it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skills.lib.engine.decision import Move
from skills.lib.errors import LedgerError, UsageError
from skills.lib.ledger import Ledger, Stale, new_id, removal, verification
from skills.lib.model.run import Run
from tests.fixtures.kinds import Kind
from tests.fixtures.strategies import hostile_texts

NAMES = st.sampled_from(("a", "b", "c"))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | hostile_texts(1, 60),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(hostile_texts(1, 20), inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture
def ledger(tmp_path: Path, kind: Kind) -> Ledger:
    return Ledger(str(tmp_path / "home"))


def opened(ledger: Ledger, **fields: object) -> Run:
    run = Run(id=new_id(), workflow="w", fingerprint="f", project="/p", step="a").changed(**fields)
    return ledger.commit(None, Move(run, "opened", {}), "agent", {"name": "w"})


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves=st.lists(st.tuples(st.integers(0, 2), NAMES, st.dictionaries(NAMES, JSON, max_size=2), JSON), max_size=12))
def test_replaying_the_events_gives_every_run_as_it_stands(
    tmp_path: Path, kind: Kind, moves: list[tuple[int, str, dict[str, object], object]]
) -> None:
    ledger = kind.new(tmp_path)
    runs = [opened(ledger) for _ in range(3)]
    for at, step, state, detail in moves:
        before = runs[at]
        after = before.changed(turn=before.turn + 1, step=step, state={**before.state, step: state})
        runs[at] = ledger.commit(before, Move(after, "moved", {"detail": detail}), "agent")
        ledger.note(before.id, before.turn, "refused", "agent", {"why": detail})
    verification.verify(ledger)
    for run in runs:
        kept = ledger.run(run.id)
        assert kept is not None
        assert kept.fields() == run.fields()
    details = [event.detail["detail"] for event in ledger.events() if event.kind == "moved"]
    assert details == [detail for *_, detail in moves]
    ledger.close()


def test_a_run_that_has_moved_is_stale(ledger: Ledger) -> None:
    run = opened(ledger)
    first = ledger.commit(run, Move(run.changed(turn=2), "moved", {}), "agent")
    with pytest.raises(Stale):
        ledger.commit(run, Move(run.changed(turn=2, step="elsewhere"), "moved", {}), "agent")
    assert [event.kind for event in ledger.events(run.id)] == ["opened", "moved"]
    assert ledger.run(run.id).fields() == first.fields()  # type: ignore[union-attr]


def test_a_move_that_cannot_be_kept_leaves_nothing(ledger: Ledger) -> None:
    run = opened(ledger)
    with pytest.raises(UsageError, match="of the kind object that JSON does not have"):
        ledger.commit(run, Move(run.changed(state={"a": {"x": object()}}), "moved", {}), "agent")
    verification.verify(ledger)
    assert [event.kind for event in ledger.events()] == ["opened"]
    assert ledger.commit(run, Move(run.changed(turn=2), "moved", {}), "agent").turn == 2


def test_children_come_with_the_move_that_creates_them(ledger: Ledger) -> None:
    run = opened(ledger, script="/s/scripts/w.py")
    tasks = [{"step": "a", "script": script, "number": 1, "task": "look"} for script in (None, "sub/x.py")]
    move = Move(run.changed(turn=2), "moved", {}, tuple(tasks))
    after = ledger.commit(run, move, "agent")
    assert after.children == [f"{run.id}.1", f"{run.id}.2"]
    assert [child.script for child in ledger.runs(after.children)] == ["/s/scripts/w.py", "/s/scripts/sub/x.py"]
    assert [child.status for child in ledger.runs(after.children)] == ["pending", "pending"]
    end = Move(after, "child-lost", {"reason": "gone"}, (), ((f"{run.id}.1", "lost"),))
    ledger.commit(after, end, "agent")
    assert ledger.runs([f"{run.id}.1"])[0].last == {"reason": "gone"}
    with pytest.raises(Stale):
        ledger.commit(ledger.run(run.id), end, "agent")
    verification.verify(ledger)


def test_deleting_ended_runs_leaves_a_sound_ledger(ledger: Ledger) -> None:
    first, second = opened(ledger, status="done", step=None), opened(ledger, fingerprint="g")
    removal.remove(ledger, [first.id])
    verification.verify(ledger)
    assert [run.id for run in ledger.every_run()] == [second.id]
    assert {event.run for event in ledger.events()} == {second.id}
    assert ledger.definition("g") == {"name": "w"}
    with pytest.raises(LedgerError, match="has lost a workflow's definition"):
        ledger.definition("f")


def test_a_missing_ledger_is_an_error_if_none_may_be_made(tmp_path: Path, kind: Kind) -> None:
    with pytest.raises(LedgerError, match=r"there is no ledger (at|of shop in postgresql)") as told:
        Ledger(str(tmp_path / "home"), create=False)
    assert "open a run, which makes one" in told.value.remedy
    assert Ledger.existing(str(tmp_path / "home")) is None
    assert not (tmp_path / "home").exists()


def test_the_folder_is_the_owners_and_stays_out_of_git(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "home"))
    home = Path(ledger.path).parent
    assert home.stat().st_mode & 0o777 == 0o700
    assert Path(ledger.path).stat().st_mode & 0o777 == 0o600
    assert (home / ".gitignore").read_text() == "*\n"
    assert "Copy or move it only together with runs.db-wal" in (home / "LEDGER").read_text()


def test_the_ids_of_runs_are_hard_to_mistake() -> None:
    ids = {new_id() for _ in range(500)}
    assert len(ids) == 500
    assert {len(run) for run in ids} == {8}
    assert not set("".join(ids)) & set("ilo01AILO")
