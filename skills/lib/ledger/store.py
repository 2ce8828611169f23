"""What a database must do for a ``Ledger``. ``database.Database`` does it with a file of SQLite.

Tables and columns are those of ``creation.SCHEMA``. Statements are SQL that every database knows, with ``?`` for each
value. Only type checkers import this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from skills.lib.errors import LedgerError


class Changed(Protocol):
    """What a statement did."""

    @property
    def rowcount(self) -> int:
        """How many rows it changed."""


class Store(Protocol):
    """The database of a ledger. As a context it is a transaction in which nobody else writes.

    Events get rising numbers in the order of their transactions, and no number is given twice. Every method raises
    LedgerError for what goes wrong.
    """

    @property
    def path(self) -> str:
        """Where the ledger is, for messages."""

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Changed:
        """Run one statement."""

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Run one query and read it whole."""

    def each(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """Run one query and read it row by row; other queries may run in between."""

    def open_ids(self, workflow: str, params: str) -> list[str]:
        """The open runs of a workflow that no other run started and whose parameters have that digest, in order.

        A run that damage hides is an error.
        """

    def check(self) -> None:
        """Raise LedgerError if the database, its indexes included, is not whole."""

    def check_pages(self) -> None:
        """Raise LedgerError if damage could make a whole table endless; a part of ``check`` that is quicker."""

    def compact(self) -> None:
        """Give the room of removed rows back."""

    def reading(self) -> AbstractContextManager[None]:
        """A context in which all that is read is of one moment; others may write meanwhile."""

    def broken(self, what: str, remedy: str = "") -> LedgerError:
        """The error for a ledger that cannot be trusted."""

    def close(self, exiting: bool = False) -> None:
        """Close it; ``exiting`` says that the process ends right after."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: object, trace: object) -> None: ...
