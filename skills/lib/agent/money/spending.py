"""What the sessions of a user took in all projects: tokens and money of each model call, and which runs were opened.

It is a file in the user's state folder: a day's budget holds for all projects, and removing a run gives nothing back. A
call counts from its beginning, with an estimate of what it sends: so those of other sessions count, and so does one
whose session was killed.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import sqlite3
import time
from collections.abc import Iterator
from typing import Any

from skills.lib import paths
from skills.lib.errors import EnvironmentProblem
from skills.lib.record import Record

FOLDER, FILE = "agent", "spending.db"
_TABLES = (
    "CREATE TABLE IF NOT EXISTS calls(id INTEGER PRIMARY KEY, home TEXT NOT NULL, run TEXT NOT NULL, at REAL NOT NULL, "
    "model TEXT NOT NULL, tokens INTEGER NOT NULL, usd REAL)",
    "CREATE INDEX IF NOT EXISTS calls_by_time ON calls(at, tokens, usd)",
    "CREATE INDEX IF NOT EXISTS calls_of_run ON calls(run, home)",
    "CREATE TABLE IF NOT EXISTS starts(home TEXT NOT NULL, run TEXT NOT NULL, skill TEXT NOT NULL, at REAL NOT NULL, "
    "PRIMARY KEY(home, run))",
    "CREATE TABLE IF NOT EXISTS warnings(home TEXT NOT NULL, run TEXT NOT NULL, budget TEXT NOT NULL, "
    "period REAL NOT NULL, PRIMARY KEY(home, run, budget, period))",
)
# How long a call waits for another process, in seconds.
_LOCK_TIMEOUT = 10.0
# No budget looks further back (seconds).
_KEPT = 100 * 86_400
HOUR = 3600.0


class Spent(Record):
    """Tokens and US dollars; ``unpriced`` is how many calls had no known price."""

    tokens: int = 0
    usd: float = 0.0
    unpriced: int = 0


class Spending:
    """The user's file. Each call opens it: any number of processes and threads use it.

    Raises EnvironmentProblem if the file cannot be used.
    """

    def __init__(self, home: str) -> None:
        """``home`` is the folder of the project's ledger."""
        self._home = os.path.realpath(home)
        self.path = os.path.join(paths.state(), FOLDER, FILE)

    def begin(self, run: str, model: str, tokens: int, usd: float | None) -> int:
        """Count a model call that begins with what it is known to send; its number."""
        values = (self._home, run, time.time(), model, tokens, usd)
        with self._open() as connection:
            number = connection.execute("INSERT INTO calls VALUES(NULL,?,?,?,?,?,?)", values).lastrowid
        assert number is not None
        return number

    def end(self, number: int, tokens: int, usd: float | None) -> None:
        """Count a call that ended with what it took."""
        with self._open() as connection:
            connection.execute("UPDATE calls SET tokens=?, usd=? WHERE id=?", (tokens, usd, number))

    def release(self, number: int) -> None:
        """Count a call no longer for which the provider takes nothing."""
        with self._open() as connection:
            connection.execute("DELETE FROM calls WHERE id=?", (number,))

    def of_run(self, run: str) -> Spent:
        """What a run took, its sub-agents' with it."""
        return self._sum("run=? AND home=?", (run, self._home))

    def since(self, at: float) -> Spent:
        """What all runs of the user took since a time."""
        return self._sum("at>=?", (at,))

    def start(self, run: str, skill: str, most: int) -> float:
        """Count the opening of a run; 0, or the time from which a run of the skill may be opened again.

        In an hour at most so many are opened. One that was counted is counted no more.
        """
        now = time.time()
        with self._open() as connection:
            sql = "SELECT at FROM starts WHERE skill=? AND at>? AND NOT (home=? AND run=?) ORDER BY at DESC LIMIT ?"
            before = connection.execute(sql, (skill, now - HOUR, self._home, run, most)).fetchall()
            if len(before) == most:
                return float(before[-1][0]) + HOUR
            connection.execute("INSERT OR IGNORE INTO starts VALUES(?,?,?,?)", (self._home, run, skill, now))
            for table in ("calls", "starts"):
                connection.execute(f"DELETE FROM {table} WHERE at<?", (now - _KEPT,))  # noqa: S608  ours
        return 0.0

    def is_first_warning(self, run: str, budget: str, period: float) -> bool:
        """True for the first call with these arguments."""
        with self._open() as connection:
            values = (self._home, run, budget, period)
            return connection.execute("INSERT OR IGNORE INTO warnings VALUES(?,?,?,?)", values).rowcount == 1

    def _sum(self, where: str, values: tuple[Any, ...]) -> Spent:
        sql = f"SELECT total(tokens), total(usd), count(*)-count(usd) FROM calls WHERE {where}"  # noqa: S608  ours
        with self._open() as connection:
            [(tokens, usd, unpriced)] = connection.execute(sql, values).fetchall()
        return Spent(int(tokens), float(usd), int(unpriced))

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A transaction in which nobody else writes."""
        try:
            is_new = not os.path.exists(self.path)
            os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
            if is_new:
                with contextlib.suppress(FileExistsError):
                    os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            with contextlib.closing(
                sqlite3.connect(self.path, timeout=_LOCK_TIMEOUT, isolation_level=None)
            ) as connection:
                connection.execute("PRAGMA synchronous=NORMAL")
                connection.execute("BEGIN IMMEDIATE")
                if not connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
                    for statement in _TABLES:
                        connection.execute(statement)
                yield connection
                connection.execute("COMMIT")
        except (OSError, sqlite3.Error) as error:
            raise EnvironmentProblem(
                f"what the user's sessions took cannot be counted in {self.path}: {error}",
                remedy="make it writable; if it is damaged, move it aside, and counting begins anew; or set "
                "LOCKSTEP_STATE to another folder",
            ) from error


def user_name() -> str:
    """The name of the user whose session it is; "" if the system knows none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""
