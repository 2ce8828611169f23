"""Checks that the file of a ledger is whole, as SQLite sees it; what is in its rows is for ``verification``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skills.lib.errors import LedgerError
    from skills.lib.ledger.store import Store

# The highest number that an event can have.
_LAST_NUMBER = (1 << 63) - 1


def check(database: Store) -> None:
    """Raise LedgerError if the file, its indexes included, is not whole, or can take no event any more."""
    _check_by(database, "PRAGMA integrity_check(1)")
    if has_no_number_left(database):
        raise without_numbers(database)


def check_pages(database: Store) -> None:
    """Raise LedgerError if a page of the file stands in two places, so that a table could have no end."""
    _check_by(database, "PRAGMA quick_check(1)")


def has_no_number_left(database: Store) -> bool:
    """True if the last event has the highest number: SQLite then calls the disk full."""
    return bool(database.rows("SELECT 1 FROM sqlite_sequence WHERE seq>=?", (_LAST_NUMBER,)))


def without_numbers(database: Store) -> LedgerError:
    """The error for a ledger whose next event would have no number."""
    return database.broken("is damaged: no number is left for another event", "restore it from a copy")


def _check_by(database: Store, pragma: str) -> None:
    found = database.rows(pragma)
    if found != [("ok",)]:
        raise database.broken(f"is damaged: {found[0][0] if found else 'no answer'}")
