"""A ledger works on any database that does what ``Store`` says, here one in memory."""

from __future__ import annotations

import os
import sqlite3
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from lockstep import Ledger, LedgerError, Run
from skills.lib.engine.decision import Move
from skills.lib.ledger import Stale, open_runs, verification
from skills.lib.ledger.creation import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from skills.lib.ledger.store import Store


class InMemory:
    """A database without a file."""

    path = "in memory"

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None)
        self.connection.executescript(SCHEMA)
        self.is_closed = False

    def execute(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        return self.connection.execute(sql, values)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        return self.execute(sql, values).fetchall()

    def each(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        return iter(self.rows(sql, values))

    def open_ids(self, workflow: str, params: str) -> list[str]:
        sql = "SELECT id FROM runs WHERE workflow=? AND params=? AND status='open' AND parent IS NULL ORDER BY id"
        return [run_id for (run_id,) in self.rows(sql, (workflow, params))]

    def check_pages(self) -> None:
        """Nothing on a disk leads in circles."""

    def check(self) -> None:
        pass

    def compact(self) -> None:
        pass

    def reading(self) -> AbstractContextManager[None]:
        return nullcontext()

    def broken(self, what: str, remedy: str = "") -> LedgerError:
        return LedgerError(f"{self.path} {what}", remedy=remedy)

    def close(self, exiting: bool = False) -> None:
        self.is_closed = True

    def __enter__(self) -> None:
        self.execute("BEGIN")

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.execute("ROLLBACK" if kind else "COMMIT")


def test_a_ledger_takes_a_database_of_another_kind() -> None:
    store: Store = InMemory()
    with Ledger(store) as ledger:
        run = Run(id="one", workflow="w", fingerprint="f", project="/p", step="a", params={"x": 1})
        opened = ledger.commit(None, Move(run, "opened", {}), "agent", {"name": "w"})
        moved = ledger.commit(opened, Move(opened.changed(turn=2), "moved", {}), "agent")
        with pytest.raises(Stale):
            ledger.commit(opened, Move(opened.changed(turn=2), "moved", {}), "agent")
        assert [found.fields() for found in open_runs.like(ledger, "w", {"x": 1})] == [moved.fields()]
        assert open_runs.like(ledger, "w", {"x": 2}) == []
        assert [event.kind for event in ledger.events_after()] == ["opened", "moved"]
        verification.verify(ledger)
        store.execute("DELETE FROM runs")
        with pytest.raises(LedgerError, match="in memory is damaged: it has lost the run 'one'"):
            ledger.run("one")
    assert isinstance(store, InMemory)
    assert store.is_closed


def test_the_home_of_a_ledger_is_its_folder(tmp_path: os.PathLike[str]) -> None:
    with Ledger(os.path.join(tmp_path, "home")) as ledger:
        assert ledger.path == os.path.join(tmp_path, "home", "runs.db")
