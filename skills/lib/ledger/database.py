"""Opens the ledger's database, and says in words why it cannot be used."""

from __future__ import annotations

import _thread  # threading brings functools and collections
import os
import stat
import sys
import time

from skills.lib import compact_json, paths
from skills.lib.errors import EnvironmentProblem, LedgerError, tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
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
_FOLDERS = ("open", "context", "seals")
APPLICATION_ID = 0x4C4B5354  # "LKST"
VERSION = 3
# How long a call waits for another process's transaction, in seconds; one takes well under a millisecond.
LOCK_TIMEOUT = 10.0
# Beyond this the write-ahead log is folded into the database on the way out (a step does not close otherwise).
WAL_LIMIT = 256 * 1024

# AUTOINCREMENT: no event gets the number of one that was removed.
SCHEMA = """
CREATE TABLE events(
    seq INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, turn INTEGER NOT NULL, kind TEXT NOT NULL,
    actor TEXT NOT NULL, at REAL NOT NULL, detail TEXT NOT NULL, change TEXT NOT NULL, sum TEXT NOT NULL);
CREATE INDEX events_of_run ON events(run, seq, kind);
CREATE TABLE runs(
    id TEXT PRIMARY KEY, workflow TEXT NOT NULL, parent TEXT, status TEXT NOT NULL, version INTEGER NOT NULL,
    data TEXT NOT NULL, sum TEXT NOT NULL, params TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX runs_by_status ON runs(status, workflow, parent, params);
CREATE INDEX runs_by_parent ON runs(parent, status, workflow, params);
CREATE TABLE definitions(fingerprint TEXT PRIMARY KEY, data TEXT NOT NULL, sum TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE contents(digest TEXT PRIMARY KEY, data TEXT NOT NULL, sum TEXT NOT NULL) WITHOUT ROWID;
"""
_SCHEMA_2 = """
CREATE TABLE events(
    seq INTEGER PRIMARY KEY, run TEXT NOT NULL, turn INTEGER NOT NULL, kind TEXT NOT NULL, actor TEXT NOT NULL,
    at REAL NOT NULL, detail TEXT NOT NULL, change TEXT NOT NULL, sum TEXT NOT NULL);
CREATE INDEX events_of_run ON events(run, seq);
CREATE TABLE runs(
    id TEXT PRIMARY KEY, workflow TEXT NOT NULL, parent TEXT, status TEXT NOT NULL, version INTEGER NOT NULL,
    data TEXT NOT NULL, sum TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE definitions(fingerprint TEXT PRIMARY KEY, data TEXT NOT NULL, sum TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE contents(digest TEXT PRIMARY KEY, data TEXT NOT NULL, sum TEXT NOT NULL) WITHOUT ROWID;
"""


def _statements(schema: str) -> list[str]:
    return [statement.strip() for statement in schema.split(";\n") if statement.strip()]


_TABLES = _statements(SCHEMA)
# What the file of each format says of its tables, in the words of SQLite, which adds a table for AUTOINCREMENT.
_WORDS = {
    1: _statements(_SCHEMA_2)[:-1],
    2: _statements(_SCHEMA_2),
    3: [*_TABLES, "CREATE TABLE sqlite_sequence(name,seq)"],
}
# What brings a ledger of each older format to the next one. A column cannot be changed in its place.
UPGRADES = {
    1: [_TABLES[-1]],
    2: [
        "ALTER TABLE events RENAME TO old_events",
        "ALTER TABLE runs RENAME TO old_runs",
        "DROP INDEX events_of_run",
        *_TABLES[:-2],
        "INSERT INTO events SELECT * FROM old_events ORDER BY seq",
        "INSERT INTO runs SELECT *, params_of(id, workflow, parent, status, version, data, sum) FROM old_runs",
        "DROP TABLE old_events",
        "DROP TABLE old_runs",
    ],
}
# Two indexes know which runs are open: an entry that one has lost does not make a run absent.
_INDEXES = ("runs_by_status", "runs_by_parent")
_OPEN = "status IN ('open','waiting') AND parent IS NULL AND workflow=? AND params=?"

# A file may be anybody's. No value is longer (bytes); the lists of files in ``contents`` are the longest.
VALUE_LIMIT = 64 << 20
# Of a run, and of the definition of a workflow (characters): JSON takes many times its length of memory.
RUN_LIMIT = 8_000_000
# No statement is longer, be it in the schema that SQLite reads.
_STATEMENT_LIMIT = 10_000
# How many instructions of SQLite's machine a statement may take before the schema is known to be ours: a few hundred.
_SCHEMA_WORK = 20_000

# What SQLite calls it if a file system refuses a lock in another way than by saying that it is taken.
_NO_LOCKS = ("SQLITE_IOERR_LOCK", "SQLITE_IOERR_UNLOCK", "SQLITE_IOERR_RDLOCK", "SQLITE_IOERR_CHECKRESERVEDLOCK")

_MARKER_TEXT = """The file runs.db beside this one is the record of this project's Lockstep runs.
Copy or move it only together with runs.db-wal. To begin anew, remove this whole folder.
"""


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
        found = self._files()
        marked, there = MARKER in found, FILE in found
        if marked and not there:
            raise self.broken("is missing, and it was there before", "restore it from a copy")
        if not there and not create:
            remedy = "give --project as it stands in the commands that the run printed"
            if os.environ.get("LOCKSTEP_HOME"):
                remedy = "LOCKSTEP_HOME names its folder: copy the folder there that has the runs, or unset it"
            raise LedgerError(f"there is no ledger at {self.path}", remedy=f"{remedy}; --step 1 opens a new run")
        if not there:
            self._make_home()
        if os.path.basename(home) == paths.FOLDER:  # another home may have other things in it, and be the project
            self._hide()
        self._connect()
        try:
            try:
                self.execute("PRAGMA synchronous=NORMAL")  # docs/architecture.md says what a power cut loses
                self._check(marked)
            except LedgerError as error:
                if not _lacks_shared_memory(error.__cause__):
                    raise
                self._use_rollback_journal()  # the folder was moved to another file system
                self._check(marked)
        except BaseException:
            self.close()
            raise

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Cursor:
        """Run one statement. Its rows are read by ``rows``, so that no other thread's statement comes between."""
        with self._lock:
            if self._connection is None:
                raise LedgerError(f"the ledger {self.path} was closed meanwhile", remedy="close it after the last call")
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
        found = self.rows("PRAGMA integrity_check(1)")
        if found != [("ok",)]:
            raise self.broken(f"is damaged: {found[0][0] if found else 'no answer'}")

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
        lead = f"{remedy}, " if remedy else ""
        return LedgerError(
            f"the ledger {self.path} {what}",
            remedy=f"{lead}move its folder aside to begin anew, or set LOCKSTEP_HOME to another folder",
        )

    def _to_write(self) -> str:
        """What to do about a ledger that can only be read: an empty folder in its place would lack its runs."""
        return f"make {self.home} writable; or copy it to a folder that can be written, and set LOCKSTEP_HOME to that"

    def _files(self) -> set[str]:
        """The ledger's files that are there; each must be an ordinary one, and a folder no link (``paths.link_in``).

        A cloned project may bring links, which SQLite would write through; a FIFO or a folder in the place of a file
        would be waited for, or be reported as a ledger that cannot be written.
        """
        for name in _FOLDERS:
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
                self._keep_from_others(name, mode)
        return found

    def _keep_from_others(self, name: str, mode: int) -> None:
        """Let only the owner read a file of the ledger, and say so; another user's file stays as it is."""
        path = os.path.join(self.home, name)
        try:
            os.chmod(path, stat.S_IMODE(mode) & 0o700)  # to open and close it would drop this process's locks on it
        except OSError:
            return
        if mode_of(self.home, name) != mode:  # some file systems keep no modes
            tell(f"lockstep: other users could read or change {path}; from now on its owner alone can\n")

    def _make_home(self) -> None:
        try:
            os.makedirs(self.home, mode=0o700, exist_ok=True)
            if not os.listdir(self.home):
                self._hide()
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError as error:
            raise LedgerError(
                f"the ledger's folder {self.home} cannot be made: {error.strerror}",
                remedy="set LOCKSTEP_HOME to a folder that can be written",
            ) from error

    def _hide(self) -> None:
        """Let git ignore the folder: a ledger in a commit would show to others what its runs recorded.

        Lines of a cloned project that admit files again are replaced. A folder that cannot be written stays as it is.
        """
        path = os.path.join(self.home, ".gitignore")
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

    def _connect(self) -> None:
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
        if self._identity() != (APPLICATION_ID, VERSION):
            # Another process may be making the ledger at this moment: look again while nobody else writes.
            with self:
                self._create_or_refuse(marked)
        self._check_schema(VERSION)
        if not marked:
            self._use_write_ahead_log()
            self._mark()

    def _check_schema(self, version: int) -> None:
        """Raise LedgerError if the file has a trigger, a view, or anything else that is not of a ledger of that format.

        The queries of this library would run it: for ever, with any amount of memory, or to refuse each change.
        """
        if self._tables() != sorted(_WORDS[version]):
            raise self.broken("is damaged: its tables are not those of a ledger", "restore it from a copy")
        assert self._connection is not None
        self._connection.set_progress_handler(None, 0)

    def _tables(self) -> list[str]:
        return sorted(sql for (sql,) in self.rows("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"))

    def _identity(self) -> tuple[int, int]:
        ((application,),), ((version,),) = self.rows("PRAGMA application_id"), self.rows("PRAGMA user_version")
        return application, version

    def _create_or_refuse(self, marked: bool) -> None:
        application, version = self._identity()
        if (application, version) == (0, 0) and not self.rows("SELECT 1 FROM sqlite_master LIMIT 1"):
            if marked:
                raise self.broken("is empty, and it held runs before", "restore it from a copy")
            self._create()
        elif application != APPLICATION_ID:
            raise self.broken("is not a ledger of Lockstep")
        elif version > VERSION:
            raise LedgerError(
                f"the ledger {self.path} was written by a newer Lockstep (format {version}, this one reads {VERSION})",
                remedy="upgrade Lockstep",
            )
        elif version not in (*UPGRADES, VERSION):
            raise self.broken(f"has format {version}, which no version of Lockstep writes")
        elif version != VERSION:
            self._upgrade(version)

    def _upgrade(self, version: int) -> None:
        if version == 1 and self._tables() == sorted(_WORDS[2]):  # an upgrade of it was cut short
            version = 2
        self._check_schema(version)
        assert self._connection is not None
        self._connection.create_function("params_of", 7, _params_of)
        for step in range(version, VERSION):
            for statement in UPGRADES[step]:
                self.execute(statement)
        self.execute(f"PRAGMA user_version={VERSION}")

    def _create(self) -> None:
        for statement in _TABLES:
            self.execute(statement)
        self.execute(f"PRAGMA application_id={APPLICATION_ID}")
        self.execute(f"PRAGMA user_version={VERSION}")

    def _use_write_ahead_log(self) -> None:
        """Switch the journal if the filesystem allows it; SQLite does not wait for a lock here, so this method does."""
        patience = time.monotonic() + LOCK_TIMEOUT
        while True:
            try:
                self.execute("PRAGMA journal_mode=WAL")
                self.execute("PRAGMA main.wal_checkpoint(PASSIVE)")  # an upgrade has touched the schema "temp"
                return
            except LedgerError as error:
                if _lacks_shared_memory(error.__cause__):
                    break
                if time.monotonic() > patience:
                    raise
                time.sleep(0.005)
        self._use_rollback_journal()
        self._check_schema(VERSION)

    def _use_rollback_journal(self) -> None:
        """Leave the write-ahead log, which takes memory that processes share: no file system over a network has it."""
        self.close()
        self._connect()
        for setting in ("locking_mode=EXCLUSIVE", "journal_mode=DELETE", "locking_mode=NORMAL", "synchronous=FULL"):
            self.execute(f"PRAGMA {setting}")  # who has the ledger alone reads the log without shared memory

    def _mark(self) -> None:
        try:
            with open(os.path.join(self.home, MARKER), "w", encoding="ascii") as file:
                file.write(_MARKER_TEXT)
        except OSError as error:
            raise LedgerError(
                f"the ledger's folder {self.home} cannot be written: {error.strerror}",
                remedy=self._to_write(),
            ) from error

    def _explain(self, error: BaseException) -> LedgerError:
        text, name = str(error), getattr(error, "sqlite_errorname", "")
        if isinstance(error, (OverflowError, UnicodeEncodeError)) or "binding parameter" in text:
            return LedgerError(f"the ledger {self.path} was asked for what it cannot have: {text}")
        if "locked" in text or "busy" in text:
            return LedgerError(
                f"the ledger {self.path} has been locked by another process for {LOCK_TIMEOUT:g} s",
                remedy="run the same command again; if it stays locked, look for a stopped process that holds it; if "
                "none does, the file system has no locks: set LOCKSTEP_HOME to a folder of a local disk",
            )
        if name in _NO_LOCKS or _lacks_shared_memory(error):
            return LedgerError(
                f"the file system of the ledger {self.path} lacks the locks that it needs",
                remedy=f"copy {self.home}, if it has runs, to a local disk, and set LOCKSTEP_HOME to the folder there",
            )
        if "readonly" in text or "unable to open" in text or "permission" in text:
            return LedgerError(
                f"the ledger {self.path} cannot be written: {text}",
                remedy=self._to_write(),
            )
        if "full" in text or "disk I/O" in text:
            return LedgerError(
                f"the ledger {self.path} could not be written: {text}",
                remedy="make room on the disk and run the same command again; the run stands where it stood",
            )
        return self.broken(f"is damaged: {text}", "restore it from a copy")


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


def _lacks_shared_memory(error: BaseException | None) -> bool:
    """True for the errors of a file system whose files cannot be shared as memory, which the write-ahead log takes."""
    return str(getattr(error, "sqlite_errorname", "")).startswith("SQLITE_IOERR_SHM")


def _params_of(*row: Any) -> str | None:
    """The digest of the parameters of a run; None if the run is damaged, which the new table does not take."""
    *fields, total = row
    try:
        params = compact_json.loads(fields[5])["params"] if len(fields[5]) <= RUN_LIMIT else None
        return compact_json.digest(params) if compact_json.digest(fields) == total else None
    except (TypeError, ValueError, KeyError):
        return None
