"""A reader that follows the events by their numbers gets each of them, in order, however slow the writers are."""

from __future__ import annotations

import os
import random
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from lockstep import Ledger, Run
from skills.lib.engine.decision import Move
from skills.lib.ledger import Stale
from skills.lib.ledger.database import Database
from tests.fixtures.processes import ended, forked

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fixtures.kinds import Kind

pytestmark = [pytest.mark.slow, pytest.mark.req("X-04.1")]
WRITERS, MOVES = 4, 25


def slowly(home: str, at: int, kind: Kind) -> int:
    """Open a run and move it, with a pause between what is written and its commit."""
    chance = random.Random(at)
    owner: Any = Database
    if kind.is_shared:
        from skills.lib.ledger.postgres.database import Postgres

        owner = Postgres
    commit = owner.__exit__

    def paused(*arguments: object) -> None:
        time.sleep(chance.uniform(0, 0.02))
        commit(*arguments)

    owner.__exit__ = paused
    with Ledger(home) as ledger:
        run = Run(id=f"run{at}", workflow="w", fingerprint="f", project="/p", step="a")
        run = ledger.commit(None, Move(run, "opened", {}), "agent", {"name": "w"})
        for number in range(MOVES):
            run = ledger.commit(run, Move(run.changed(turn=run.turn + 1), "moved", {}), "agent")
            if number % 5 == 0:  # a transaction that is undone in between
                with pytest.raises(Stale):
                    ledger.commit(run.changed(version=1), Move(run.changed(turn=9_999), "moved", {}), "agent")
    return 0


def test_a_reader_beside_four_slow_writers_loses_no_event_and_gets_them_in_order(tmp_path: Path, kind: Kind) -> None:
    home = str(tmp_path / "home")
    Ledger(home).close()
    processes = [forked(lambda at=at: slowly(home, at, kind)) for at in range(WRITERS)]  # type: ignore[misc]
    left, seen, cursor, end = set(processes), [], 0, time.monotonic() + 120
    with Ledger(home) as reader:
        while True:
            were_left = bool(left)
            page = reader.events_after(cursor)
            seen += page
            cursor = page[-1].seq if page else cursor
            if not were_left:
                break
            for process in list(left):
                if os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                    assert ended(process) == 0
                    left.remove(process)
            if time.monotonic() > end:
                for process in left:
                    os.kill(process, signal.SIGKILL)
                    ended(process)
                raise AssertionError("the writers did not end")
        assert [event.fields() for event in seen] == [event.fields() for event in reader.events()]
    assert len(seen) == WRITERS * (MOVES + 1)
    assert [event.seq for event in seen] == sorted({event.seq for event in seen})
    for at in range(WRITERS):
        assert [event.turn for event in seen if event.run == f"run{at}"] == list(range(1, MOVES + 2))
