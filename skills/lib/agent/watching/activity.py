"""What happened in the sessions of agents beside the ledger: thoughts, calls of tools and their results, tokens.

One file serves all runs of a project. Each row says after which event of the ledger it happened (``after``), and rows
are in the order (after, id): no row gets a lower ``after`` than a row before it, or than an event that a reader was
given (``settled``). So a place in that order is a cursor that stays exact.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from typing import TYPE_CHECKING

from skills.lib import compact_json
from skills.lib.agent.kept import own_file
from skills.lib.errors import LedgerError, UsageError
from skills.lib.ledger import creation
from skills.lib.record import Record

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any

FOLDER, FILE = "agent", "activity.db"
_APPLICATION_ID = 0x4C4B4143  # "LKAC"
_VERSION = 1
# AUTOINCREMENT: no row gets the id of one that was removed.
_TABLES = (
    "CREATE TABLE activity(id INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, turn INTEGER NOT NULL, "
    '"after" INTEGER NOT NULL, at REAL NOT NULL, kind TEXT NOT NULL, visibility TEXT NOT NULL, data TEXT NOT NULL, '
    "sum TEXT NOT NULL)",
    "CREATE INDEX activity_of_run ON activity(run, turn, kind)",
    'CREATE INDEX activity_in_order ON activity("after")',
    # One row: the highest ``after`` that was written, or event that a reader was given.
    "CREATE TABLE reached(event INTEGER NOT NULL)",
)
_IN_FILE = sorted([*_TABLES, "CREATE TABLE sqlite_sequence(name,seq)"])
_COLUMNS = 'id, run, turn, "after", at, kind, visibility, data, sum'
# How long a call waits for another process's transaction, in seconds; one takes well under a millisecond.
_LOCK_TIMEOUT = 10.0
# The highest id that a row can have.
_LARGEST = (1 << 63) - 1
# No value is longer (bytes).
_VALUE_LIMIT = 64 << 20


class Row(Record):
    """One thing that happened; ``at`` is seconds since the epoch, for people only: (after, id) is the order."""

    id: int
    run: str
    turn: int
    after: int
    at: float
    kind: str
    visibility: str
    data: dict[str, Any]


def path_in(home: str) -> str:
    """The file of the activities beside the ledger of a home folder."""
    return os.path.join(home, FOLDER, FILE)


class Activity:
    """The activities of all runs of a project. Raises LedgerError wherever the file cannot be trusted or used.

    One connection for any number of threads; any number of processes may have the file open.
    """

    def __init__(self, path: str) -> None:
        """Open the file, or make it with its folder, for their owner alone."""
        self.path = os.path.abspath(path)
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        own_file.make(self.path, "activities")
        self.connect()
        try:
            self.execute("PRAGMA synchronous=NORMAL")  # a killed process loses nothing
            self._make_tables()
            creation.use_write_ahead_log(self, _LOCK_TIMEOUT)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Activity:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def note(
        self, run: str, turn: int, after: int, kind: str, data: Mapping[str, Any], visibility: str = "full"
    ) -> int:
        """Record that something happened in a run, and return its id; when this returns, it is committed.

        ``after`` is the number of the ledger's last event. ``data`` is what JSON can hold.
        """
        _check_numbers(turn=turn, after=after)
        try:
            text = compact_json.ordered(dict(data))
        except (TypeError, ValueError, RecursionError) as error:
            raise UsageError(f"the data of {kind!r:.40} cannot be kept: {error}") from error
        with self._transaction():
            place = max(after, self._reached())
            self._reach(place)
            fields = [run, turn, place, time.time(), kind, visibility, text]
            sql = "INSERT INTO activity VALUES(NULL,?,?,?,?,?,?,?,?)"
            found = self.execute(sql, (*fields, compact_json.digest(fields))).lastrowid
        assert found is not None
        return found

    def rows(
        self, run: str, *, turn: int | None = None, kind: str | None = None, after: int = 0, holding: str = ""
    ) -> list[Row]:
        """What happened in a run, in order: in one of its turns, of one kind, with a higher id than ``after``.

        ``holding`` is a part of the JSON of their data.
        """
        where, values = _of(run, turn, kind)
        return list(self._read(f"{where} AND id>? AND instr(data,?) ORDER BY id", (*values, after, holding)))

    def rows_of_all(self, run: str, kind: str) -> list[Row]:
        """What happened of one kind in a run and in its sub-agents' runs, in order."""
        where = "(run=? OR substr(run,1,?)=?) AND kind=? ORDER BY id"
        return list(self._read(where, (run, len(run) + 1, f"{run}.", kind)))

    def count(self, run: str, *, turn: int | None = None, kind: str | None = None, until: int = _LARGEST) -> int:
        """How many rows ``rows`` has, those up to the id ``until``."""
        where, values = _of(run, turn, kind)
        [(count,)] = self._all(f"SELECT count(*) FROM activity WHERE {where} AND id<=?", (*values, until))  # noqa: S608  names of ours
        return int(count)

    def settled(self, runs: Collection[str], place: tuple[int, int], last: int, limit: int) -> list[Row]:
        """At most so many rows of the runs and their sub-agents', in order, after a place (after, id) up to ``last``.

        ``last`` is the number of an event. From now on no row gets a lower ``after``: who has these rows and the events
        up to ``last`` has all that will ever be there up to then, in its order.
        """
        _check_numbers(after=place[0], id=place[1], last=last)
        with self._transaction():
            self._reach(last)
            trees = " OR ".join(["run=? OR substr(run,1,?)=?" for _ in runs]) or "0"
            values = [value for run in runs for value in (run, len(run) + 1, f"{run}.")]
            where = f'"after">=? AND ("after">? OR id>?) AND "after"<=? AND ({trees}) ORDER BY "after", id LIMIT ?'
            return list(self._read(where, (place[0], *place, last, *values, limit)))

    def remove(self, runs: Iterable[str]) -> None:
        """Remove what happened in these runs and in their sub-agents' runs."""
        with self._transaction():
            for run in runs:
                self.execute("DELETE FROM activity WHERE run=? OR substr(run,1,?)=?", (run, len(run) + 1, f"{run}."))

    def close(self) -> None:
        """Close the connection, which folds the write-ahead log into the file."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def connect(self) -> None:
        """Open a connection."""
        try:
            self._connection = sqlite3.connect(
                self.path, timeout=_LOCK_TIMEOUT, isolation_level=None, check_same_thread=False
            )
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _VALUE_LIMIT)
        except sqlite3.Error as error:
            raise self._explained(error) from error

    def execute(self, sql: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run one statement."""
        with self._lock:
            if self._connection is None:
                raise LedgerError(
                    f"the activities {self.path} were closed meanwhile", remedy="close after the last call"
                )
            try:
                return self._connection.execute(sql, values)
            except (sqlite3.Error, OverflowError, UnicodeError, MemoryError) as error:
                raise self._explained(error) from error

    def _all(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._lock:
            try:
                return self.execute(sql, values).fetchall()
            except (sqlite3.Error, UnicodeError, MemoryError) as error:
                raise self._explained(error) from error

    def _read(self, where: str, values: Sequence[Any]) -> Iterator[Row]:
        """The rows that a condition admits, their checksums checked."""
        for number, *fields, total in self._all(f"SELECT {_COLUMNS} FROM activity WHERE {where}", values):  # noqa: S608
            try:
                if total == compact_json.digest(fields):
                    run, turn, after, at, kind, visibility, data = fields
                    yield Row(number, run, turn, after, at, kind, visibility, compact_json.load_object(data))
                    continue
            except (TypeError, ValueError):
                pass
            raise self._broken(f"row {number} has a wrong checksum or field")

    def _reached(self) -> int:
        [(event,)] = self._all("SELECT max(event) FROM reached")
        if type(event) is not int:
            raise self._broken("it does not say which event it has reached")
        return event

    def _reach(self, event: int) -> None:
        self.execute("UPDATE reached SET event=? WHERE event<?", (event, event))

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """A transaction in which nobody else writes; an error undoes it."""
        with self._lock:
            self.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.execute("COMMIT")
            except BaseException:
                if self._connection is not None and self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _make_tables(self) -> None:
        """Make the tables of a new file. Raises LedgerError for a file that has others: their triggers would run."""
        identity = self._identity()
        if identity == (0, 0):
            with self._transaction():  # another process may have made them meanwhile
                if self._identity() == (0, 0) and not self._all("SELECT 1 FROM sqlite_master LIMIT 1"):
                    for statement in (*_TABLES, "INSERT INTO reached VALUES(0)"):
                        self.execute(statement)
                    self.execute(f"PRAGMA application_id={_APPLICATION_ID}")
                    self.execute(f"PRAGMA user_version={_VERSION}")
            identity = self._identity()
        if identity[0] == _APPLICATION_ID and identity[1] > _VERSION:
            raise LedgerError(f"the activities {self.path} were written by a newer Lockstep", remedy="upgrade Lockstep")
        found = sorted(sql for (sql,) in self._all("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"))
        if identity != (_APPLICATION_ID, _VERSION) or found != _IN_FILE:
            raise self._broken("its tables are others")

    def _identity(self) -> tuple[int, int]:
        [(application,)], [(version,)] = self._all("PRAGMA application_id"), self._all("PRAGMA user_version")
        return application, version

    def _broken(self, what: str) -> LedgerError:
        aside = f"move {self.path} aside and run the same command again: the run goes on from the ledger, without what "
        return LedgerError(
            f"the activities {self.path} are damaged: {what}", remedy=f"{aside}its agent thought and called"
        )

    def _explained(self, error: BaseException) -> LedgerError:
        """The LedgerError for what SQLite said of the file."""
        text = str(error)
        if "locked" in text or "busy" in text:
            return LedgerError(
                f"the activities {self.path} have been locked by another process for {_LOCK_TIMEOUT:g} s",
                remedy="run the same command again; if they stay locked, look for a stopped process that holds them",
            )
        if any(word in text for word in ("readonly", "unable to open", "permission", "full", "disk I/O")):
            return LedgerError(
                f"the activities {self.path} cannot be written: {text}",
                remedy="make the file writable, or make room on its disk, and run the same command again",
            )
        return self._broken(text)


def _check_numbers(**numbers: int) -> None:
    for name, value in numbers.items():
        if type(value) is not int or not 0 <= value <= _LARGEST:
            raise UsageError(f"{name} is {value!r:.80}", valid="a whole number of 0 or more")


def _of(run: str, turn: int | None, kind: str | None) -> tuple[str, tuple[Any, ...]]:
    """The condition for the rows of a run, of one turn and one kind if they are given, and its values."""
    given = {"run": run, "turn": turn, "kind": kind}
    named = {name: value for name, value in given.items() if value is not None}
    return " AND ".join(f"{name}=?" for name in named), tuple(named.values())
