"""Workers are killed, stopped and continued, and the queue is lost: each run is done once, as if nothing had been."""

from __future__ import annotations

import contextlib
import signal
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dbos._queue
import pytest

from skills.lib.errors import LedgerError
from skills.lib.fleet.fleet import Fleet
from skills.lib.fleet.folders import RunFolder
from skills.lib.fleet.members import Lease, Members
from skills.lib.fleet.places import QUEUE, WORKERS, Place
from skills.lib.ledger import Ledger
from tests.extent import extent
from tests.fixtures.kinds import Kind
from tests.fleet.fleets import (
    Storm,
    agent,
    faults,
    git,
    is_over,
    project,
    states,
    submit,
    until,
    work,
    worker,
    workers,
)
from tests.fleet.test_working import ASKING

NAMES = ("w1", "w2", "w3", "w4")


def check(folder: Path, runs: list[str], tasks: list[str]) -> None:
    """Every run is done once, with the moves and the files of an undisturbed one."""
    assert states(folder) == dict.fromkeys(runs, "done")
    assert faults(folder, dict(zip(runs, tasks, strict=True))) == []


@pytest.mark.slow
@pytest.mark.req("X-03.1")
def test_runs_of_workers_that_are_killed_and_stopped_are_done_once(
    tmp_path: Path, kind: Kind, request: pytest.FixtureRequest
) -> None:
    """PostgreSQL is restarted once, too."""
    folder = project(tmp_path / "p")
    tasks = [f"task {number}" for number in range(extent(16, 1_000))]
    runs = submit(folder, tasks)
    with workers(folder, NAMES, patience=3.0, pause=0.2) as running:
        until(lambda: "done" in states(folder).values())
        if kind.is_shared:
            server = request.getfixturevalue("postgres")
            server.stop()
            server.start()
        storm = Storm(running, every=extent(8, 20), stopped_for=5.0, seed=1)
        storm.rage(lambda: is_over(folder), seconds=extent(600, 15_000))
    print(f"{storm.kills} kills and {storm.stops} stops over {len(runs)} runs")  # pytest -rP shows it
    assert storm.kills > 0
    check(folder, runs, tasks)


@pytest.mark.slow
@pytest.mark.req("X-03.1")
def test_the_run_of_a_stopped_worker_is_taken_over_and_what_it_does_afterwards_counts_for_nothing(
    tmp_path: Path, kind: Kind
) -> None:
    folder = project(tmp_path / "p")
    [run] = submit(folder, ["one"])
    with workers(folder, ["first"], patience=2.0, pause=3.0) as running:
        until(lambda: asks_its_model(folder, run))
        running.send("first", signal.SIGSTOP)
        running.start("second")
        until(lambda: [one.worker for one in Fleet(str(folder)).runs()] == ["second"], 20)  # its patience is over
        running.send("first", signal.SIGCONT)
        until(lambda: states(folder) == {run: "done"})
    check(folder, [run], ["one"])
    assert git(folder, "log", "--format=%s", f"refs/lockstep/{run}").splitlines() == [
        f"lockstep {run}: finished, done, turn 3",
        f"lockstep {run}: moved, again, turn 2",
        "first",
    ]


@pytest.mark.req("X-03.1")
def test_a_session_whose_run_another_worker_finished_records_nothing(
    tmp_path: Path, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes on, as a stopped process does, right before it commits a step that is over by then."""
    folder = project(tmp_path / "p")
    [run] = submit(folder, ["one"])
    members = Members(Place(str(folder), WORKERS))
    note = RunFolder.note
    others: list[str] = []

    def finish_before_the_commit(kept: RunFolder, commit: str) -> None:
        note(kept, commit)
        if not others and "first" in kept.index and Path(kept.tree.project, "made", "note.txt").exists():
            with worker(folder, name="second") as second:
                others.append(second.follow(run))

    monkeypatch.setattr(RunFolder, "note", finish_before_the_commit)
    try:
        members.join("first", 1, 0.0)  # it gives no sign of life
        members.join("second", 1, 60.0)
        with worker(folder, name="first") as first:
            assert first.follow(run) == "over"
    finally:
        members.close()
    assert others == ["over"]
    check(folder, [run], ["one"])


@pytest.mark.req("X-03.1")
def test_a_lease_that_could_not_be_given_back_is_given_back_with_the_next_sign_of_life(
    tmp_path: Path, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody else gets the lease of a worker that lives, so the run would wait until it ends."""
    folder = project(tmp_path / "p", "asking", ASKING)
    [run] = submit(folder, ["one"], skill="asking")
    release = Members.release
    failed: list[str] = []

    def fail_once(members: Members, lease: Lease, counts: bool = True) -> None:
        if not failed:
            failed.append(lease.run)
            raise LedgerError("the database is away")
        release(members, lease, counts)

    monkeypatch.setattr(Members, "release", fail_once)
    with at_work(folder):
        until(lambda: states(folder) == {run: "waiting"}, 30)
        assert failed == [run]
        agent(folder).answer(run, "yes")
        until(lambda: states(folder) == {run: "done"}, 30)


@pytest.mark.req("X-03.1")
def test_a_lease_whose_taking_was_not_confirmed_is_given_back_with_the_next_sign_of_life(
    tmp_path: Path, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = project(tmp_path / "p")
    [run] = submit(folder, ["one"])
    take = Members.take
    failed: list[str] = []

    def take_and_fail(members: Members, run: str, worker: str) -> Lease | None:
        lease = take(members, run, worker)
        if not failed:
            failed.append(run)
            raise LedgerError("the connection was lost")
        return lease

    monkeypatch.setattr(Members, "take", take_and_fail)
    with at_work(folder):
        until(lambda: states(folder) == {run: "done"}, 30)
    assert failed == [run]
    check(folder, [run], ["one"])


@pytest.mark.req("X-03.1")
def test_a_run_that_was_taken_from_the_queue_and_not_begun_is_taken_again(
    tmp_path: Path, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As DBOS leaves it if the connection is lost while the database commits the taking."""
    folder = project(tmp_path / "p")
    [run] = submit(folder, ["one"])
    begin = getattr(dbos._queue, "execute_dequeued_workflow")  # noqa: B009  it is not exported
    failed: list[str] = []

    def fail_once(*given: Any) -> Any:
        if not failed:
            failed.append(run)
            raise ConnectionError("the connection was lost")
        return begin(*given)

    monkeypatch.setattr(dbos._queue, "execute_dequeued_workflow", fail_once)
    with at_work(folder):
        until(lambda: states(folder) == {run: "done"}, 30)
    assert failed == [run]
    check(folder, [run], ["one"])


@contextlib.contextmanager
def at_work(folder: Path) -> Iterator[None]:
    """A worker in a thread of this process."""
    with worker(folder, slots=1, patience=2.0) as found:
        thread = threading.Thread(target=found.work)
        thread.start()
        try:
            yield
        finally:
            found.drain()
            thread.join(60)
            assert not thread.is_alive()


def asks_its_model(folder: Path, run: str) -> bool:
    """True if a session of the run has begun a model call."""
    with agent(folder).activity() as activity:
        return activity.count(run, kind="model") > 0


@pytest.mark.slow
@pytest.mark.req("X-03.2")
def test_no_run_is_lost_with_the_queue(tmp_path: Path, kind: Kind) -> None:
    folder = project(tmp_path / "p")
    tasks = [f"task {number}" for number in range(6)]
    runs = submit(folder, tasks)
    with workers(folder, ["w1", "w2"], patience=3.0, slots=1, pause=0.5):
        until(lambda: "done" in states(folder).values())
        drop_the_queue(folder, kind)
        assert "queued" in states(folder).values()
        until(lambda: set(states(folder).values()) == {"done"})
    check(folder, runs, tasks)


def drop_the_queue(folder: Path, kind: Kind) -> None:
    """Remove all tables of DBOS."""
    if kind.is_shared:
        schema = Place(str(folder), QUEUE).schema
        with contextlib.closing(kind.connection(folder / ".lockstep")) as shared:
            assert shared.execute("SELECT 1 FROM pg_namespace WHERE nspname=%s", (schema,)).fetchall() == [(1,)]
            shared.execute(f'DROP SCHEMA "{schema}" CASCADE')
        return
    path = folder / ".lockstep" / "fleet" / "queue.db"
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as connection, connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        for name in names:
            if not name.startswith("sqlite_"):
                connection.execute(f'DROP TABLE "{name}"')


def test_a_run_that_is_not_as_undisturbed_is_found(tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    one, other = submit(folder, ["one", "other"])
    work(folder)
    assert faults(folder, {one: "one", other: "other"}) == []
    assert faults(folder, {one: "one", other: "two"}) == [
        f"run {other} made {{'made/again.txt': 'again of other', 'made/note.txt': 'note of other'}}"
    ]
    with Ledger(str(folder / ".lockstep"), create=False) as ledger:
        run = ledger.run(one)
        assert run is not None
        ledger.note(one, run.turn, "moved", "script", {})
    [found] = faults(folder, {one: "one", other: "other"})
    assert found.startswith(f"run {one} recorded")


@pytest.mark.req("X-03.1")
def test_a_lease_of_a_process_that_died_is_free_once_the_worker_begins_again(tmp_path: Path, kind: Kind) -> None:
    members = Members(Place(str(project(tmp_path / "p")), WORKERS))
    try:
        members.join("w1", 1, 60.0)
        members.join("w2", 1, 60.0)
        old = members.take("abc", "w1")
        assert old is not None
        assert members.take("abc", "w2") is None
        members.begin("w1")
        members.join("w1", 1, 60.0)
        assert not members.has(old)
        assert not members.keeps(old)
        new = members.take("abc", "w2")
        assert new is not None
        assert (new.token, new.tries) == (2, 2)
        assert members.keeps(new)
    finally:
        members.close()
