"""The queue of one worker: what it holds of the database once it is closed."""

from __future__ import annotations

import threading
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
