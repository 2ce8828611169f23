"""The queue of one worker: when it takes a run, and what it holds of the database once it is closed."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from skills.lib.fleet.places import QUEUE, Place
from skills.lib.fleet.queue import OVER, Queue
from tests.fleet.fleets import until

# The connections to the database beside the one that asks.
_OTHERS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
_WAITING = f"{_OTHERS} AND wait_event_type = 'Lock'"


def test_what_a_thread_still_does_as_the_queue_is_closed_leaves_no_connection(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A workflow's outcome waits for a lock meanwhile, so that its connection comes back to a queue that is closed."""
    monkeypatch.setenv("LOCKSTEP_LEDGER_URL", database_url)
    monkeypatch.setenv("LOCKSTEP_LEDGER_PROJECT", "shop")
    begun, goes_on = threading.Event(), threading.Event()

    def drive(run: str) -> str:
        begun.set()
        goes_on.wait(60)
        return OVER

    place = Place(str(tmp_path), QUEUE)
    queue = Queue(place, "w", 1, 8, drive)
    queue.launch()
    queue.put("run", "user", 100)
    assert begun.wait(60)
    with psycopg.connect(database_url) as other, psycopg.connect(database_url, autocommit=True) as asking:
        other.execute(f'SELECT 1 FROM "{place.schema}".workflow_status FOR UPDATE')
        goes_on.set()
        until(lambda: asking.execute(_WAITING).fetchone() == (1,), 60)
        queue.close()
        until(lambda: asking.execute(_OTHERS).fetchone() == (2,), 60)
        other.commit()
        until(lambda: asking.execute(_WAITING).fetchone() == (0,), 60)
        until(lambda: asking.execute(_OTHERS).fetchone() == (1,), 10)


def test_the_next_run_is_taken_as_one_ends_and_not_with_the_next_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skills.lib.fleet.polling.LONGEST", 300.0)
    begun, driven, goes_on = threading.Event(), list[str](), threading.Event()

    def drive(run: str) -> str:
        begun.set()
        assert goes_on.wait(60)
        driven.append(run)
        return OVER

    queue = Queue(Place(str(tmp_path), QUEUE), "w", 1, 8, drive)
    queue.launch()
    try:
        queue.put("a", "user", 100)
        assert begun.wait(60)  # from now on it pauses for LONGEST
        for run, priority in (("d", 300), ("b", 100), ("c", 200)):
            queue.put(run, "user", priority)
        assert driven == []
        goes_on.set()
        until(lambda: len(driven) == 4, 60)
        assert driven == ["a", "b", "c", "d"]
    finally:
        began = time.monotonic()
        queue.close()
    assert time.monotonic() - began < 60


def test_a_worker_takes_runs_again_once_the_queue_was_removed_and_made_anew(tmp_path: Path) -> None:
    driven: list[str] = []

    def drive(run: str) -> str:
        driven.append(run)
        return OVER

    queue = Queue(Place(str(tmp_path), QUEUE), "w", 1, 8, drive)
    queue.launch()
    try:
        with closing(sqlite3.connect(tmp_path / ".lockstep/fleet/queue.db", timeout=60)) as other:
            other.executescript("CREATE TABLE kept AS SELECT * FROM queues; DELETE FROM queues")
            time.sleep(2.0)  # the worker looks meanwhile
            other.executescript("INSERT INTO queues SELECT * FROM kept")
        queue.put("a", "user", 100)
        until(lambda: driven == ["a"], 60)
    finally:
        queue.close()
