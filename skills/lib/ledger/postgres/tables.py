"""The tables of a shared ledger, one schema for each project: makes them, and says whether they are those."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from skills.lib.compact_json import digest
from skills.lib.errors import LedgerError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from skills.lib.ledger.postgres.address import Address

    class Opened(Protocol):
        """What this needs of a ``Postgres``."""

        address: Address

        def execute(self, sql: str, values: Sequence[Any] = ()) -> object: ...
        def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]: ...
        def broken(self, what: str, remedy: str = "") -> LedgerError: ...


# The format of rows, as that of a file has it (``database.VERSION``); 3 is the first that there was here.
FORMAT = 3
# Text is compared byte by byte, as in SQLite. A REAL of PostgreSQL would change the times, and with them the checksums.
# A sequence would leave gaps: what is undone takes its number along.
SCHEMA = (
    "CREATE TABLE ledger(format INTEGER NOT NULL, project TEXT NOT NULL, last BIGINT NOT NULL"
    " CONSTRAINT numbers_left CHECK (last < 9223372036854775807))",
    "CREATE FUNCTION next_number() RETURNS BIGINT LANGUAGE SQL AS 'UPDATE ledger SET last=last+1 RETURNING last'",
    """CREATE TABLE events(
        seq BIGINT PRIMARY KEY DEFAULT next_number(), run TEXT COLLATE "C" NOT NULL, turn BIGINT NOT NULL,
        kind TEXT COLLATE "C" NOT NULL, actor TEXT NOT NULL, at DOUBLE PRECISION NOT NULL, detail TEXT NOT NULL,
        change TEXT NOT NULL, sum TEXT NOT NULL)""",
    "CREATE INDEX events_of_run ON events(run, seq)",
    """CREATE TABLE runs(
        id TEXT COLLATE "C" PRIMARY KEY, workflow TEXT COLLATE "C" NOT NULL, parent TEXT COLLATE "C",
        status TEXT COLLATE "C" NOT NULL, version BIGINT NOT NULL, data TEXT NOT NULL, sum TEXT NOT NULL,
        params TEXT COLLATE "C" NOT NULL)""",
    "CREATE INDEX runs_by_status ON runs(status, workflow, parent, params)",
    "CREATE INDEX runs_by_parent ON runs(parent, status, workflow, params)",
    'CREATE TABLE definitions(fingerprint TEXT COLLATE "C" PRIMARY KEY, data TEXT NOT NULL, sum TEXT NOT NULL)',
    'CREATE TABLE contents(digest TEXT COLLATE "C" PRIMARY KEY, data TEXT NOT NULL, sum TEXT NOT NULL)',
)
_COLUMNS = """SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns
    WHERE table_schema=current_schema() ORDER BY table_name COLLATE "C", ordinal_position"""
_CODE = """SELECT count(*) FROM pg_class c WHERE c.relnamespace=current_schema()::regnamespace AND
    (c.relhasrules OR EXISTS (SELECT 1 FROM pg_trigger t WHERE t.tgrelid=c.oid AND NOT t.tgisinternal))"""
# The digest of what _COLUMNS gives for SCHEMA.
_DIGEST = "09077342588af910781f9f86b65135ee"


def create(database: Opened) -> None:
    """Make the schema of a project and the tables in it, in the caller's transaction."""
    name = database.address.schema
    # Whoever may not make schemas can be given an empty one.
    if not database.rows("SELECT 1 FROM pg_namespace WHERE nspname=?", (name,)):
        database.execute(f"CREATE SCHEMA {name}")
    for statement in SCHEMA:
        database.execute(statement)
    database.execute("INSERT INTO ledger VALUES(?,?,0)", (FORMAT, database.address.project))


def check_format(database: Opened, found: Sequence[Any]) -> None:
    """Raise LedgerError unless the rows of the table ``ledger`` say this format and this project."""
    if len(found) != 1:
        raise database.broken("is damaged: it does not say its format", "restore it from a copy")
    [(number, project)] = found
    if number > FORMAT:
        raise LedgerError(
            f"the ledger {database.address.shown} was written by a newer Lockstep (format {number}, this one reads "
            f"{FORMAT})",
            remedy="upgrade Lockstep",
        )
    if number != FORMAT:
        raise database.broken(f"has format {number}, which no version of Lockstep writes")
    if project != database.address.project:
        raise database.broken(f"is that of another project, {project!r:.80}")


def check(database: Opened) -> None:
    """Raise LedgerError if the tables are not those of a ledger, or can take no event any more."""
    if digest([list(row) for row in database.rows(_COLUMNS)]) != _DIGEST or database.rows(_CODE) != [(0,)]:
        raise database.broken("is damaged: its tables are not those of a ledger", "restore it from a copy")
    if database.rows("SELECT 1 FROM ledger WHERE last+1>=9223372036854775807"):
        raise database.broken("is damaged: no number is left for another event", "restore it from a copy")
