"""Opens the ledger's database, a file of SQLite."""

from __future__ import annotations

import _thread  # threading brings functools and collections
import os
import stat
import sys

from skills.lib import paths
from skills.lib.compact_json import digest
from skills.lib.errors import EnvironmentProblem, LedgerError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from sqlite3 import Connection, Cursor
    from types import ModuleType
    from typing import Any
else:
    ModuleType = type(sys)

FILE = "runs.db"
MARKER = "LEDGER"
# How many bytes of the folder's .gitignore are read.
_LONGEST_IGNORE = 10_000
# The folders beside the ledger in which files of runs and of graphs are written.
FOLDERS = ("open", "context", "seals")
APPLICATION_ID = 0x4C4B5354  # "LKST"
VERSION = 3
# The digest of the texts of its tables and indexes, sorted: ``creation.TEXTS``.
TABLES = "dbf757fbe2d20274f78f48a6c6664322"
# How long a call waits for another process's transaction, in seconds; one takes well under a millisecond.
LOCK_TIMEOUT = 10.0
# Beyond this the write-ahead log is folded into the database on the way out (a step does not close otherwise).
WAL_LIMIT = 256 * 1024

# Two indexes know which runs are open: an entry that one has lost does not make a run absent.
_INDEXES = ("runs_by_status", "runs_by_parent")
_OPEN = "status IN ('open','waiting') AND parent IS NULL AND workflow=? AND params=?"

# A file may be anybody's. No value is longer (bytes); the lists of files in ``contents`` are the longest.
VALUE_LIMIT = 64 << 20
# No statement is longer, be it in the schema that SQLite reads.
_STATEMENT_LIMIT = 10_000
# How many instructions of SQLite's machine a statement may take before the schema is known to be ours: a few hundred.
_SCHEMA_WORK = 20_000
# After so many instructions a statement is looked at, again and again (``_is_endless``); one of a step takes hundreds.
_WORK = 1_000_000
# A statement takes at most so many times _WORK instructions, and so many for each byte of the ledger; a scan of a table
# takes less than one for each byte.
_LEAST_WORK, _WORK_OF_A_BYTE = 3, 4


def _load() -> ModuleType:
    """SQLite's C module without what it imports: 1.0 ms of start-up; the public module takes 4.

    The C module imports functools, and with it collections, for ``lru_cache`` alone; a stand-in with that one name
    serves while it loads. On any other Python than CPython 3.11 to 3.14 the public module is used.
    """
    if "functools" in sys.modules or sys.version_info >= (3, 15):
        import sqlite3

        return sqlite3
    from _functools import _lru_cache_wrapper  # type: ignore[import-not-found]

    stand_in = ModuleType("functools")
    stand_in.lru_cache = lambda size: lambda function: _lru_cache_wrapper(function, size, False, tuple)  # type: ignore[attr-defined]
    sys.modules["functools"] = stand_in
    try:
        import _sqlite3

        return _sqlite3
    finally:
        del sys.modules["functools"]


try:
    sqlite = _load()
except (ImportError, AttributeError, TypeError):
    try:
        import sqlite3 as sqlite
    except ImportError as error:
        raise EnvironmentProblem(
            f"{sys.executable} was built without SQLite, which the record of runs needs",
            remedy="run the same command with another Python, 3.11 or later, in place of the interpreter",
        ) from error


def exists(home: str) -> bool:
    """True if the folder has a ledger, or had one. Raises LedgerError if it may not be looked into."""
    return any(mode_of(home, name) is not None for name in (FILE, MARKER))


def mode_of(home: str, name: str) -> int | None:
    """The mode of a file of the ledger, links not followed; None if it is absent.

    Raises LedgerError if the folder may not be looked into: what cannot be seen is not absent.
    """
    try:
        return os.lstat(os.path.join(home, name)).st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    except OSError as error:
        raise LedgerError(
            f"the ledger's folder {home} cannot be read: {error.strerror}",
            remedy="run the same command as the user that owns the folder",
        ) from error


class Database:
    """One connection for any number of threads; every failure of SQLite becomes a LedgerError that names the file.

    A transaction has the connection for itself: other threads wait for its end.
    """

    def __init__(self, home: str, create: bool) -> None:
        self.home = home
        self._lock = _thread.RLock()
        self.path = os.path.join(home, FILE)
        self._connection: Connection | None = None
        self._work = 0
        found = self._files()
        marked, there = MARKER in found, FILE in found
        if marked and not there:
            raise self.broken("is missing, and it was there before", "restore it from a copy")
        if not there and not create:
            remedy = "name the project of the run"
            in_shell = "give --project as it stands in the commands that the run printed"
            if os.environ.get("LOCKSTEP_HOME"):
                remedy = "LOCKSTEP_HOME names its folder: copy the folder there that has the runs, or unset it"
                in_shell = remedy
            raise LedgerError(
                f"there is no ledger at {self.path}",
                remedy=f"{remedy}; or open a run, which makes one",
                in_shell=f"{in_shell}; --step 1 opens a new run",
            )
        if not there:
            from skills.lib.ledger import creation  # a folder gets one ledger

            creation.make_home(self)
        if os.path.basename(home) == paths.FOLDER:  # another home may have other things in it, and be the project
            self.hide()
        self.connect()
        try:
            try:
                self.execute("PRAGMA synchronous=NORMAL")  # docs/architecture.md says what a power cut loses
                self._check(marked)
            except LedgerError as error:
                from skills.lib.ledger import creation, failures

                if not failures.lacks_shared_memory(error.__cause__):
                    raise
                creation.use_rollback_journal(self)  # the folder was moved to another file system
                self._check(marked)
        except BaseException:
            self.close()
            raise

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Cursor:
        """Run one statement. Its rows are read by ``rows``, so that no other thread's statement comes between."""
        with self._lock:
            if self._connection is None:
                raise LedgerError(f"the ledger {self.path} was closed meanwhile", remedy="close it after the last call")
            self._work = 0
            try:
                return self._connection.execute(sql, values)
            except (sqlite.Error, OverflowError, UnicodeError, MemoryError) as error:
                raise self._explain(error) from error

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Run one query and read it whole."""
        with self._lock:
            try:
                return self.execute(sql, values).fetchall()
            except (sqlite.Error, OverflowError, UnicodeError, MemoryError) as error:
                raise self._explain(error) from error

    def each(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """Run one query and read it row by row."""
        with self._lock:  # another thread's transaction is not read half
            try:
                for row in self.execute(sql, values):  # noqa: UP028  it would close the cursor, of a closed connection too
                    yield row
            except (sqlite.Error, OverflowError, UnicodeError, MemoryError) as error:
                raise self._explain(error) from error

    def open_ids(self, workflow: str, params: str) -> list[str]:
        """The open runs of a workflow that no other run started and whose parameters have that digest, in order."""
        first, second = [
            self.rows(f"SELECT id FROM runs INDEXED BY {index} WHERE {_OPEN} ORDER BY id", (workflow, params))  # noqa: S608  names of ours
            for index in _INDEXES
        ]
        if first != second:
            raise self.broken(f"is damaged: its two indexes list different runs of {workflow!r:.40}")
        return [run_id for (run_id,) in first]

    def check(self) -> None:
        """Raise LedgerError if the file, its indexes included, is not whole."""
        from skills.lib.ledger import wholeness  # no step asks for the whole file

        wholeness.check(self)

    def check_pages(self) -> None:
        """Raise LedgerError if a page of the file stands in two places, so that a table could have no end."""
        from skills.lib.ledger import wholeness

        wholeness.check_pages(self)

    def _is_endless(self) -> bool:
        """True if the present statement did more than a ledger of this size can ask for: its pages lead in circles."""
        self._work += 1
        size = 0
        for name in (self.path, f"{self.path}-wal"):
            try:
                size += os.path.getsize(name)
            except OSError:
                continue
        return self._work > _LEAST_WORK + size * _WORK_OF_A_BYTE // _WORK

    def compact(self) -> None:
        """Give the room of removed rows back to the file system."""
        self.execute("VACUUM")

    def __enter__(self) -> None:
        """Begin a transaction, in which nobody else writes."""
        self._begin("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Commit the transaction, or undo it if an error was raised."""
        try:
            if kind is None:
                self.execute("COMMIT")
        finally:
            self._end()

    def reading(self) -> _Reading:
        """A context in which all that is read is of one moment; others may write meanwhile."""
        return _Reading(self)

    def _begin(self, sql: str) -> None:
        """Begin a transaction; the other threads of this process wait for its end."""
        self._lock.acquire()
        try:
            self.execute(sql)
        except BaseException:
            self._end()
            raise

    def _end(self) -> None:
        """Undo a transaction that is still open, and let another thread go on."""
        try:
            if self._connection is not None and self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        finally:
            self._lock.release()

    def close(self, exiting: bool = False) -> None:
        """Close the connection, which folds the write-ahead log into the database.

        ``exiting`` says that the process ends right after: then it is closed only if the log has grown.
        """
        try:
            left_open = exiting and os.path.getsize(self.path + "-wal") <= WAL_LIMIT
        except OSError:
            left_open = False
        with self._lock:
            if self._connection is not None and not left_open:
                connection, self._connection = self._connection, None
                try:
                    connection.close()
                except sqlite.Error as error:
                    raise self._explain(error) from error

    def broken(self, what: str, remedy: str = "") -> LedgerError:
        """The error for a ledger that cannot be trusted."""
        from skills.lib.ledger import failures  # few ledgers fail

        return failures.broken(self.path, what, remedy)

    def _explain(self, error: BaseException) -> LedgerError:
        from skills.lib.ledger import failures, wholeness  # few ledgers fail

        is_full = getattr(error, "sqlite_errorname", "") == "SQLITE_FULL"
        if is_full and wholeness.has_no_number_left(self):
            return wholeness.without_numbers(self)
        return failures.explained(error, self.path, LOCK_TIMEOUT)

    def _files(self) -> set[str]:
        """The ledger's files that are there; each must be an ordinary one, and a folder no link (``paths.link_in``).

        A cloned project may bring links, which SQLite would write through; a FIFO or a folder in the place of a file
        would be waited for, or be reported as a ledger that cannot be written.
        """
        for name in FOLDERS:
            link = paths.link_in(self.home, name)
            if link:
                raise self.broken(f"cannot be used: {link} is a link", f"remove {link}")
        found = set()
        for name in (FILE, f"{FILE}-wal", f"{FILE}-shm", f"{FILE}-journal", MARKER, ".gitignore"):
            mode = mode_of(self.home, name)
            if mode is None:
                continue
            if stat.S_ISLNK(mode):
                raise self.broken(f"cannot be used: {name} is a link")
            if not stat.S_ISREG(mode):
                path = os.path.join(self.home, name)
                raise self.broken(f"cannot be used: {name} is not an ordinary file", f"remove {path}")
            found.add(name)
            if mode & 0o077 and name.startswith(FILE) and os.name == "posix":
                from skills.lib.ledger import creation  # the ledger makes none that others can read

                creation.keep_from_others(os.path.join(self.home, name), mode)
        return found

    def hide(self) -> None:
        """Let git ignore the folder, as the function does."""
        hide(self.home)

    def connect(self) -> None:
        """Open a connection."""
        try:
            self._connection = sqlite.connect(
                self.path, timeout=LOCK_TIMEOUT, isolation_level=None, check_same_thread=False
            )
            self._connection.setlimit(sqlite.SQLITE_LIMIT_LENGTH, VALUE_LIMIT)
            self._connection.setlimit(sqlite.SQLITE_LIMIT_SQL_LENGTH, _STATEMENT_LIMIT)
            self._connection.set_progress_handler(lambda: 1, _SCHEMA_WORK)
        except sqlite.Error as error:
            raise self._explain(error) from error

    def _check(self, marked: bool) -> None:
        if self.identity() != (APPLICATION_ID, VERSION):
            from skills.lib.ledger import creation  # a ledger is made, and brought to a new format, once

            # Another process may be making the ledger at this moment: look again while nobody else writes.
            with self:
                creation.create_or_upgrade(self, APPLICATION_ID, VERSION, marked)
        self.check_schema(TABLES)
        if not marked:
            from skills.lib.ledger import creation

            creation.use_write_ahead_log(self, LOCK_TIMEOUT)
            self.check_schema(TABLES)
            creation.mark(self, MARKER)

    def check_schema(self, tables: str) -> None:
        """Raise LedgerError if the file has a trigger, a view, or anything else than tables with that digest.

        The queries of this library would run it: for ever, with any amount of memory, or to refuse each change.
        """
        if digest(self.tables()) != tables:
            raise self.broken("is damaged: its tables are not those of a ledger", "restore it from a copy")
        assert self._connection is not None
        self._connection.set_progress_handler(self._is_endless, _WORK)

    def tables(self) -> list[str]:
        """The texts of all tables and indexes, sorted."""
        return sorted(sql for (sql,) in self.rows("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"))

    def identity(self) -> tuple[int, int]:
        """The application's number and the format's, as the file has them."""
        ((application,),), ((version,),) = self.rows("PRAGMA application_id"), self.rows("PRAGMA user_version")
        return application, version

    def define(self, name: str, count: int, function: Callable[..., Any]) -> None:
        """Give statements a function of so many arguments."""
        assert self._connection is not None
        self._connection.create_function(name, count, function)


def hide(home: str) -> None:
    """Let git ignore the folder: a ledger in a commit would show to others what its runs recorded.

    Lines of a cloned project that admit files again are replaced. A folder that cannot be written stays as it is.
    """
    path = os.path.join(home, ".gitignore")
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError:
        return
    try:
        read = os.read(file, _LONGEST_IGNORE)
        lines = read.split(b"\n") if len(read) < _LONGEST_IGNORE else []
        at = lines.index(b"*") if b"*" in lines else len(lines)
        if at == len(lines) or any(line[:1] == b"!" for line in lines[at:]):
            os.truncate(file, 0)
            os.lseek(file, 0, os.SEEK_SET)
            os.write(file, b"*\n")
    except OSError:
        pass
    finally:
        os.close(file)


class _Reading:
    """A transaction that only reads; within another one it is a part of that."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __enter__(self) -> None:
        with self._database._lock:  # then no other thread is in a transaction
            connection = self._database._connection
            self._is_inside = connection is not None and connection.in_transaction
        if not self._is_inside:
            self._database._begin("BEGIN")

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if not self._is_inside:
            self._database.__exit__(kind, error, trace)
