"""Makes the file of a ledger, and brings one of an older format to the present one."""

from __future__ import annotations

import os
import stat
import time

from skills.lib.compact_json import digest, loads
from skills.lib.errors import LedgerError, tell
from skills.lib.ledger.failures import lacks_shared_memory, to_write
from skills.lib.model.run import RUN_LIMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Protocol

    class Journaled(Protocol):
        """A database whose journal can be chosen."""

        def execute(self, sql: str, values: Sequence[Any] = ()) -> object: ...
        def connect(self) -> None: ...
        def close(self) -> None: ...

    class Opened(Journaled, Protocol):
        """What this needs of a ``Database``."""

        home: str
        path: str

        def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]: ...
        def broken(self, what: str, remedy: str = "") -> LedgerError: ...
        def hide(self) -> None: ...
        def identity(self) -> tuple[int, int]: ...
        def tables(self) -> list[str]: ...
        def check_schema(self, tables: str) -> None: ...
        def define(self, name: str, count: int, function: Callable[..., Any]) -> None: ...


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


_PRESENT = _statements(SCHEMA)
# What the file of each format says of its tables, in the words of SQLite, which adds a table for AUTOINCREMENT.
TEXTS = {
    1: _statements(_SCHEMA_2)[:-1],
    2: _statements(_SCHEMA_2),
    3: [*_PRESENT, "CREATE TABLE sqlite_sequence(name,seq)"],
}
# What brings a ledger of each older format to the next one. A column cannot be changed in its place.
_UPGRADES = {
    1: [_PRESENT[-1]],
    2: [
        "ALTER TABLE events RENAME TO old_events",
        "ALTER TABLE runs RENAME TO old_runs",
        "DROP INDEX events_of_run",
        *_PRESENT[:-2],
        "INSERT INTO events SELECT * FROM old_events ORDER BY seq",
        "INSERT INTO runs SELECT *, params_of(id, workflow, parent, status, version, data, sum) FROM old_runs",
        "DROP TABLE old_events",
        "DROP TABLE old_runs",
    ],
}

_MARKER_TEXT = """The file runs.db beside this one is the record of this project's Lockstep runs.
Copy or move it only together with runs.db-wal. To begin anew, remove this whole folder.
"""


def make_home(database: Opened) -> None:
    """Make the folder of a ledger, and an empty file in it."""
    try:
        os.makedirs(database.home, mode=0o700, exist_ok=True)
        if not os.listdir(database.home):
            database.hide()
        os.close(os.open(database.path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise LedgerError(
            f"the ledger's folder {database.home} cannot be made: {error.strerror}",
            remedy="set LOCKSTEP_HOME to a folder that can be written",
        ) from error


def keep_from_others(path: str, mode: int) -> None:
    """Let only the owner read a file of the ledger, and say so; another user's file stays as it is."""
    try:
        os.chmod(path, stat.S_IMODE(mode) & 0o700)  # to open and close it would drop this process's locks on it
    except OSError:
        return
    if os.lstat(path).st_mode != mode:  # some file systems keep no modes
        tell(f"lockstep: other users could read or change {path}; from now on its owner alone can\n")


def create_or_upgrade(database: Opened, own: int, present: int, marked: bool) -> None:
    """Make the tables of a new ledger, or bring those of an older format to the present one, in its transaction.

    ``own`` is the application's number and ``present`` the format's; ``marked`` says that there was a ledger before.
    Raises LedgerError for a file that is neither.
    """
    application, version = database.identity()
    if (application, version) == (0, 0) and not database.rows("SELECT 1 FROM sqlite_master LIMIT 1"):
        if marked:
            raise database.broken("is empty, and it held runs before", "restore it from a copy")
        _create(database, own, present)
    elif application != own:
        raise database.broken("is not a ledger of Lockstep")
    elif version > present:
        raise LedgerError(
            f"the ledger {database.path} was written by a newer Lockstep (format {version}, this one reads {present})",
            remedy="upgrade Lockstep",
        )
    elif version not in (*_UPGRADES, present):
        raise database.broken(f"has format {version}, which no version of Lockstep writes")
    elif version != present:
        _upgrade(database, version, present)


def _upgrade(database: Opened, version: int, present: int) -> None:
    if version == 1 and database.tables() == sorted(TEXTS[2]):  # an upgrade of it was cut short
        version = 2
    database.check_schema(digest(sorted(TEXTS[version])))
    database.define("params_of", 7, _params_of)
    for step in range(version, present):
        for statement in _UPGRADES[step]:
            database.execute(statement)
    database.execute(f"PRAGMA user_version={present}")


def _create(database: Opened, own: int, present: int) -> None:
    for statement in _PRESENT:
        database.execute(statement)
    database.execute(f"PRAGMA application_id={own}")
    database.execute(f"PRAGMA user_version={present}")


def use_write_ahead_log(database: Journaled, patience: float) -> None:
    """Switch the journal if the filesystem allows it; SQLite does not wait for a lock here, so this function does."""
    end = time.monotonic() + patience
    while True:
        try:
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("PRAGMA main.wal_checkpoint(PASSIVE)")  # an upgrade has touched the schema "temp"
            return
        except LedgerError as error:
            if lacks_shared_memory(error.__cause__):
                break
            if time.monotonic() > end:
                raise
            time.sleep(0.005)
    use_rollback_journal(database)


def use_rollback_journal(database: Journaled) -> None:
    """Leave the write-ahead log, which takes memory that processes share: no file system over a network has it."""
    database.close()
    database.connect()
    for setting in ("locking_mode=EXCLUSIVE", "journal_mode=DELETE", "locking_mode=NORMAL", "synchronous=FULL"):
        database.execute(f"PRAGMA {setting}")  # who has the ledger alone reads the log without shared memory


def mark(database: Opened, name: str) -> None:
    """Write the file that says that there is a ledger."""
    try:
        with open(os.path.join(database.home, name), "w", encoding="ascii") as file:
            file.write(_MARKER_TEXT)
    except OSError as error:
        raise LedgerError(
            f"the ledger's folder {database.home} cannot be written: {error.strerror}",
            remedy=to_write(database.home),
        ) from error


def _params_of(*row: Any) -> str | None:
    """The digest of the parameters of a run; None if the run is damaged, which the new table does not take."""
    *fields, total = row
    try:
        params = loads(fields[5])["params"] if len(fields[5]) <= RUN_LIMIT else None
        return digest(params) if digest(fields) == total else None
    except (TypeError, ValueError, KeyError):
        return None
