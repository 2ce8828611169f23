"""Says in words why a shared ledger cannot be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills.lib.errors import LedgerError
from skills.lib.ledger.postgres.address import PROJECT, URL
from skills.lib.ledger.postgres.driver import psycopg

if TYPE_CHECKING:
    from skills.lib.ledger.postgres.address import Address

_AGAIN = "run the same command again: the run is at the turn before it or after it"
# The classes and codes of https://www.postgresql.org/docs/current/errcodes-appendix.html by what they mean here.
_LOST = ("08", "57P01", "57P02", "57P03", "25P03")
_LOCKED, _DENIED, _READ_ONLY, _STOPPED, _CHECK = "55P03", "42501", "25006", "57014", "23514"
_NO_ROOM, _DATA = ("53", "54", "58"), "22"


def broken(address: Address, what: str, remedy: str = "") -> LedgerError:
    """The error for a ledger that cannot be trusted."""
    lead = f"{remedy}, or " if remedy else ""
    return LedgerError(f"the ledger {address.shown} {what}", remedy=f"{lead}set {PROJECT} to a new name to begin anew")


def unreachable(address: Address, error: BaseException) -> LedgerError:
    """The error for a database to which there is no connection."""
    return LedgerError(
        f"the ledger {address.shown} cannot be reached: {_text(address, error)}",
        remedy=f"see that the server runs and that {URL} is right, then run the same command again: "
        "the run stands where it stood",
    )


def lost(address: Address, error: BaseException) -> LedgerError:
    """The error for a connection that ended in the middle of a call."""
    return LedgerError(f"the connection to the ledger {address.shown} was lost: {_text(address, error)}", remedy=_AGAIN)


def is_lost(error: BaseException) -> bool:
    """True if the server ended the connection, or is not there any more."""
    code = getattr(error, "sqlstate", None)
    return isinstance(error, psycopg.OperationalError) and (code is None or code.startswith(_LOST))


def explained(error: BaseException, address: Address, timeout: float) -> LedgerError:
    """The LedgerError for what PostgreSQL said; ``timeout`` is how long a lock is waited for, in seconds."""
    code, text, name = getattr(error, "sqlstate", None) or "", _text(address, error), address.shown
    if is_lost(error):
        return lost(address, error)
    if code == _LOCKED:
        return LedgerError(
            f"the ledger {name} has been locked by another process for {timeout:g} s",
            remedy="run the same command again; if it stays locked, look for the session that holds it in pg_locks",
        )
    if code == _CHECK:  # there is one
        return broken(address, "is damaged: no number is left for another event", "restore it from a copy")
    if code == _DENIED:
        return LedgerError(
            f"the ledger {name} may not be used: {text}",
            remedy=f"let the owner of the database grant it; the schema is {address.schema}, and docs/postgres.md says "
            "what is needed",
        )
    if code == _READ_ONLY:
        return LedgerError(f"the ledger {name} cannot be written: {text}", remedy=f"let {URL} name the primary server")
    if code == _STOPPED or code.startswith(_NO_ROOM):
        return LedgerError(
            f"the ledger {name} could not be used: {text}",
            remedy="let the database's administrator see to that, then run the same command again; the run stands "
            "where it stood",
        )
    if code.startswith(_DATA) or isinstance(error, (OverflowError, UnicodeError, psycopg.DataError)):
        return LedgerError(f"the ledger {name} was asked for what it cannot have: {text}")
    return broken(address, f"is damaged: {text}", "restore it from a copy")


def _text(address: Address, error: BaseException) -> str:
    """The first line of an error, without a password."""
    primary = getattr(getattr(error, "diag", None), "message_primary", None)
    lines = (primary or str(error)).strip().splitlines() or [type(error).__name__]
    return address.without_secrets(lines[0].removeprefix("connection failed: "))
