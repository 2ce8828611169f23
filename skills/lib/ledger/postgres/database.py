"""The ledger's database on PostgreSQL: ``store.Store`` for many machines."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from skills.lib import paths
from skills.lib.errors import LedgerError
from skills.lib.ledger.database import FOLDERS, hide
from skills.lib.ledger.postgres import failures, tables
from skills.lib.ledger.postgres.address import PROJECT, of_home
from skills.lib.ledger.postgres.driver import psycopg

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from skills.lib.ledger.postgres.address import Address

T = TypeVar("T")
# How long a call waits for another process's transaction, in seconds. A session that says nothing for half of that in
# the middle of one belongs to a stopped process, or to a machine that is gone: the server ends it.
LOCK_TIMEOUT = 10.0
_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_RUNS = "parent IS NULL AND status IN ('open','waiting') AND workflow=? AND params=?"
# The ledger's table, or its schema, is not there.
_ABSENT = ("42P01", "3F000")


class NoLedger(LedgerError):
    """The database has no ledger of that project."""


class Postgres:
    """One connection for any number of threads; every failure becomes a LedgerError that names the ledger.

    A transaction has the connection for itself. Writers of a project wait for one another until they have committed:
    so events get their numbers in the order in which they can be read. A connection that was lost is made anew with
    the next call; what was lost with it is an error.
    """

    def __init__(self, address: Address, create: bool) -> None:
        self.address = address
        self.path = address.shown
        self._lock = threading.RLock()
        self._connection: psycopg.Connection[Any] | None = None
        self._is_closed = self._is_inside = False
        self._names = itertools.count()
        self.connect()
        try:
            self._check(create)
        except BaseException:
            self.close()
            raise

    def connect(self) -> None:
        """Open a connection."""
        parameters = self.address.parameters
        options = f"{parameters['options']} -c lock_timeout={int(LOCK_TIMEOUT * 1000)}"
        try:
            self._connection = psycopg.connect(**{**parameters, "options": options}, autocommit=True)
        except (psycopg.Error, UnicodeError, ValueError) as error:
            raise failures.unreachable(self.address, error) from None  # the cause may have the password

    def _check(self, create: bool) -> None:
        found = self._format()
        if found is None:
            if not create:
                raise NoLedger(
                    f"there is no ledger {self.path}",
                    remedy=f"see that {PROJECT}, or the repository, is that of the run; or open a run, which makes one",
                )
            with self:  # another process may be making it at this moment: look again while nobody else writes
                found = self._format(is_inside=True)
                if found is None:
                    tables.create(self)
                    return
        tables.check_format(self, found)

    def _format(self, is_inside: bool = False) -> list[Any] | None:
        """What the ledger says of itself; None if there is none."""
        if is_inside and not self.rows("SELECT to_regclass(?)", (f"{self.address.schema}.ledger",))[0][0]:
            return None
        try:
            return self.rows("SELECT format, project FROM ledger")
        except LedgerError as error:
            if getattr(error.__cause__, "sqlstate", "") in _ABSENT:
                return None
            raise

    def execute(self, sql: str, values: Sequence[Any] = ()) -> psycopg.Cursor[Any]:
        """Run one statement."""
        return self._call(lambda connection: _executed(connection, sql, values), again=False)

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Run one query and read it whole."""
        return self._call(lambda connection: _executed(connection, sql, values).fetchall())

    def each(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """Run one query and read it row by row; other queries may run in between."""
        with self._lock:  # another thread's transaction is not read half
            cursor = self._call(lambda connection: self._declared(connection, sql, values))
            try:
                while found := self._call(lambda _: cursor.fetchmany(cursor.itersize), again=False):
                    yield from found
            finally:
                with contextlib.suppress(psycopg.Error):
                    cursor.close()

    def _declared(self, connection: psycopg.Connection[Any], sql: str, values: Sequence[Any]) -> Any:
        cursor = connection.cursor(f"each_{next(self._names)}", withhold=not self._is_inside)
        try:
            return cursor.execute(_translated(sql), values)  # type: ignore[arg-type, unused-ignore]
        except BaseException:
            cursor.close()
            raise

    def open_ids(self, workflow: str, params: str) -> list[str]:
        """The open runs of a workflow that no other run started and whose parameters have that digest, in order."""
        found = self.rows(f"SELECT id FROM runs WHERE {_RUNS} ORDER BY id", (workflow, params))  # noqa: S608  ours
        return [run_id for (run_id,) in found]

    def check(self) -> None:
        """Raise LedgerError if the tables are not those of a ledger; their pages are for the server to check."""
        tables.check(self)

    def check_pages(self) -> None:
        """Do nothing: the pages are the server's."""

    def compact(self) -> None:
        """Do nothing: the server gives the room of removed rows back by itself."""

    def __enter__(self) -> None:
        """Begin a transaction, in which nobody else writes to this project's ledger."""
        limit = int(LOCK_TIMEOUT * 500)
        self._begin(
            f"BEGIN; SET LOCAL idle_in_transaction_session_timeout={limit}; "
            f"SELECT pg_advisory_xact_lock({self.address.lock})"
        )

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Commit the transaction, or undo it if an error was raised."""
        try:
            if kind is None:
                self.execute("COMMIT")
        finally:
            self._end()

    @contextlib.contextmanager
    def _as_of_one_moment(self) -> Iterator[None]:
        with self._lock:
            if self._is_inside:  # a part of the transaction around it
                yield
                return
            self._begin(_READING)
            try:
                yield
            finally:
                self._end()

    def reading(self) -> AbstractContextManager[None]:
        """A context in which all that is read is of one moment; others may write meanwhile."""
        return self._as_of_one_moment()

    def _begin(self, sql: str) -> None:
        """Begin a transaction; the other threads of this process wait for its end."""
        self._lock.acquire()
        try:
            self._call(lambda connection: connection.execute(sql, prepare=False))  # type: ignore[call-overload, unused-ignore]
            self._is_inside = True
        except BaseException:
            self._end()
            raise

    def _end(self) -> None:
        """Undo a transaction that is still open, and let another thread go on."""
        try:
            self._is_inside = False
            connection = self._connection
            if connection is not None and connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                try:
                    connection.execute("ROLLBACK")
                except psycopg.Error:  # then the server undoes it
                    connection.close()
        finally:
            self._lock.release()

    def _call(self, work: Callable[[psycopg.Connection[Any]], T], again: bool = True) -> T:
        """Do the work with the connection; once more with a new one if it was lost since the last call."""
        with self._lock:
            if self._is_closed:
                raise LedgerError(f"the ledger {self.path} was closed meanwhile", remedy="close it after the last call")
            try:
                return work(self._usable())
            except (psycopg.Error, OverflowError, UnicodeError, MemoryError) as error:
                if not (again and failures.is_lost(error)) or self._is_inside:
                    raise failures.explained(error, self.address, LOCK_TIMEOUT) from error
            assert self._connection is not None
            self._connection.close()
            try:
                return work(self._usable())
            except (psycopg.Error, OverflowError, UnicodeError, MemoryError) as error:
                raise failures.explained(error, self.address, LOCK_TIMEOUT) from error

    def _usable(self) -> psycopg.Connection[Any]:
        if self._connection is None or (self._connection.closed and not self._is_inside):
            self.connect()
        assert self._connection is not None
        return self._connection

    def close(self, exiting: bool = False) -> None:
        """Close the connection."""
        with self._lock:
            self._is_closed = True
            if self._connection is not None:
                self._connection.close()

    def broken(self, what: str, remedy: str = "") -> LedgerError:
        """The error for a ledger that cannot be trusted."""
        return failures.broken(self.address, what, remedy)


def open_home(home: str, create: bool) -> Postgres:
    """The database of the ledger that the environment names for this folder. Raises NoLedger if there is none.

    The folder, which holds the files beside a ledger, is made if it is not there.
    """
    for name in FOLDERS:
        link = paths.link_in(home, name)
        if link:
            raise LedgerError(f"the folder {home} cannot be used: {link} is a link", remedy=f"remove {link}")
    found = Postgres(of_home(home), create)
    try:
        os.makedirs(home, mode=0o700, exist_ok=True)
        if os.path.basename(home) == paths.FOLDER or not os.listdir(home):
            hide(home)
    except OSError as error:
        found.close()
        raise LedgerError(
            f"the folder {home} for files beside the ledger cannot be made: {error.strerror}",
            remedy="set LOCKSTEP_HOME to a folder that can be written",
        ) from error
    return found


def existing(home: str) -> Postgres | None:
    """The same; None if there is no ledger."""
    try:
        return open_home(home, create=False)
    except NoLedger:
        return None


def _executed(connection: psycopg.Connection[Any], sql: str, values: Sequence[Any]) -> psycopg.Cursor[Any]:
    return connection.execute(_translated(sql), values or None)  # type: ignore[arg-type, unused-ignore]


@functools.cache
def _translated(sql: str) -> str:
    """The statement with the placeholders of psycopg, which takes % for one if there are values."""
    return sql.replace("%", "%%").replace("?", "%s") if "?" in sql else sql
