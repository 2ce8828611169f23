"""A file that a session keeps beside the ledger: an ordinary one, and its owner's alone."""

from __future__ import annotations

import contextlib
import os
import stat

from skills.lib.errors import LedgerError
from skills.lib.ledger import creation


def make(path: str, name: str) -> None:
    """Make the file of a database if it is missing.

    Raises LedgerError if it, one that SQLite keeps beside it, or its folder is a link or no ordinary file. ``name`` is
    what the file is called there.
    """
    folder = os.path.dirname(path)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if os.path.islink(folder):
            raise LedgerError(f"the {name} {path} cannot be used: {folder} is a link", remedy="remove the link")
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        for one in (path, *(path + end for end in ("-wal", "-shm", "-journal"))):
            with contextlib.suppress(FileNotFoundError):
                mode = os.lstat(one).st_mode
                if not stat.S_ISREG(mode):
                    what = f"the {name} {path} cannot be used: {one} is not an ordinary file"
                    raise LedgerError(what, remedy=f"remove {one}")
                if mode & 0o077 and os.name == "posix":
                    creation.keep_from_others(one, mode)
    except OSError as error:
        raise LedgerError(
            f"the {name} {path} cannot be written: {error.strerror}",
            remedy="make the folder writable, or set LOCKSTEP_HOME to one that can be written",
        ) from error
