"""Says in words why a ledger cannot be used."""

from __future__ import annotations

import os

from skills.lib.errors import LedgerError

# What SQLite calls it if a file system refuses a lock in another way than by saying that it is taken.
_NO_LOCKS = ("SQLITE_IOERR_LOCK", "SQLITE_IOERR_UNLOCK", "SQLITE_IOERR_RDLOCK", "SQLITE_IOERR_CHECKRESERVEDLOCK")


def broken(path: str, what: str, remedy: str = "") -> LedgerError:
    """The error for a ledger that cannot be trusted."""
    lead = f"{remedy}, " if remedy else ""
    return LedgerError(
        f"the ledger {path} {what}",
        remedy=f"{lead}move its folder aside to begin anew, or set LOCKSTEP_HOME to another folder",
    )


def explained(error: BaseException, path: str, timeout: float) -> LedgerError:
    """The LedgerError for what SQLite said of the ledger at ``path``; ``timeout`` is how long it waits, in seconds."""
    home = os.path.dirname(path)
    text, name = str(error), getattr(error, "sqlite_errorname", "")
    if isinstance(error, (OverflowError, UnicodeEncodeError)) or "binding parameter" in text:
        return LedgerError(f"the ledger {path} was asked for what it cannot have: {text}")
    if "locked" in text or "busy" in text:
        return LedgerError(
            f"the ledger {path} has been locked by another process for {timeout:g} s",
            remedy="run the same command again; if it stays locked, look for a stopped process that holds it; if "
            "none does, the file system has no locks: set LOCKSTEP_HOME to a folder of a local disk",
        )
    if name in _NO_LOCKS or lacks_shared_memory(error):
        return LedgerError(
            f"the file system of the ledger {path} lacks the locks that it needs",
            remedy=f"copy {home}, if it has runs, to a local disk, and set LOCKSTEP_HOME to the folder there",
        )
    if name == "SQLITE_INTERRUPT":
        return broken(path, "is damaged: a query of it finds no end", "restore it from a copy")
    if "readonly" in text or "unable to open" in text or "permission" in text:
        return LedgerError(
            f"the ledger {path} cannot be written: {text}",
            remedy=to_write(home),
        )
    if "full" in text or "disk I/O" in text:
        return LedgerError(
            f"the ledger {path} could not be written: {text}",
            remedy="make room on the disk and run the same command again; the run stands where it stood",
        )
    return broken(path, f"is damaged: {text}", "restore it from a copy")


def lacks_shared_memory(error: BaseException | None) -> bool:
    """True for the errors of a file system whose files cannot be shared as memory, which the write-ahead log takes."""
    return str(getattr(error, "sqlite_errorname", "")).startswith("SQLITE_IOERR_SHM")


def to_write(home: str) -> str:
    """What to do about a ledger that can only be read: an empty folder in its place would lack its runs."""
    return f"make {home} writable; or copy it to a folder that can be written, and set LOCKSTEP_HOME to that"
