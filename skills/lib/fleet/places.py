"""Where a fleet keeps what it has beside the ledger: on PostgreSQL if the ledger is there, else in files of SQLite."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from skills.lib import paths
from skills.lib.agent.kept import own_file
from skills.lib.errors import RefusedError
from skills.lib.ledger import is_shared

if TYPE_CHECKING:
    from skills.lib.ledger.postgres.address import Address

FOLDER = "fleet"
WORKERS, QUEUE = "workers", "queue"
# How long a process may hold a lock of PostgreSQL without doing anything, as a stopped one does, in milliseconds.
_IDLE = 10_000
_CONNECTIONS = 20
# How long a file that is locked is waited for, in seconds.
_LOCKED = 30.0


class Place:
    """A database of the fleet of a project: ``name`` is WORKERS or QUEUE.

    Raises RefusedError if a link leads elsewhere, and LedgerError if the environment names no database.
    """

    def __init__(self, project: str, name: str) -> None:
        self._file = os.path.join(folder(project), f"{name}.db")
        self._address = _address(project) if is_shared() else None
        # The schema on PostgreSQL.
        self.schema = f"{self._address.schema}_{name}" if self._address else ""

    @property
    def shown(self) -> str:
        """Where it is, for messages."""
        return self._address.shown if self._address else self._file

    def exists(self) -> bool:
        """True if there may be something in it."""
        return self._address is not None or os.path.exists(self._file)

    def make(self) -> None:
        """Make the file, for its owner alone; nothing on PostgreSQL."""
        if self._address is None:
            own_file.make(self._file, "fleet")
            with contextlib.closing(sqlite3.connect(self._file, timeout=_LOCKED)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")

    def engine(self) -> sa.Engine:
        """What connects to it, for ``close``."""
        if self._address is None:
            given = {"timeout": _LOCKED, "isolation_level": "IMMEDIATE"}  # as DBOS has it: a writer waits for another
            engine = sa.create_engine(f"sqlite:///{self._file}", connect_args=given, pool_size=_CONNECTIONS)
            sa.event.listen(engine, "connect", _set_up)
            return engine
        from skills.lib.ledger.postgres.driver import psycopg  # for those who have a shared ledger

        shared = dict(self._address.parameters)
        shared["options"] += f" -c search_path={self.schema} -c idle_in_transaction_session_timeout={_IDLE}"
        return sa.create_engine(
            "postgresql+psycopg://",
            creator=lambda: psycopg.connect(**shared),
            pool_size=_CONNECTIONS,
            pool_pre_ping=True,
        )


def close(engine: sa.Engine) -> None:
    """Close its connections; one that a thread still uses, or opens, is closed as soon as the thread gives it back."""
    sa.event.listen(engine, "checkin", _close)
    engine.dispose()


def folder(project: str, *below: str) -> str:
    """The folder of the fleet of a project, or one below it. Raises RefusedError if a link leads elsewhere."""
    home = os.path.abspath(paths.home(project))
    refuse(paths.link_in(home, FOLDER, *below))
    return os.path.join(home, FOLDER, *below)


def refuse(link: str) -> None:
    """Raise RefusedError if there is a link, by its path: whoever wrote the project may have put it there."""
    if link:
        raise RefusedError(f"{link} is a link: nothing is written through it", remedy="remove it")


def _address(project: str) -> Address:
    from skills.lib.ledger.postgres.address import of_home  # for those who have a shared ledger

    return of_home(os.path.abspath(paths.home(project)))


def _close(connection: Any, record: sa.pool.ConnectionPoolEntry) -> None:
    record.invalidate()  # in the pool, which nobody has any more, it would stay open until that is garbage


def _set_up(connection: Any, record: object) -> None:
    connection.execute("PRAGMA synchronous=NORMAL")  # a killed process loses nothing
    connection.execute("PRAGMA foreign_keys=ON")
