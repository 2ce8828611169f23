"""Keeps what is known of a bug in Lockstep in a log."""

from __future__ import annotations

import sys
import tempfile
import traceback

from skills.lib.errors import BUG, tell


def report() -> int:
    """Write the traceback to a log, say in one line where it is, and return the exit code."""
    error = sys.exc_info()[1]
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="lockstep-bug-", suffix=".log", delete=False, encoding="utf-8", errors="replace"
        ) as log:
            traceback.print_exception(error, file=log)
        where = f"the details are in {log.name}"
    except OSError as full:
        where = f"the details could not be kept: {full.strerror}"
    tell(f"lockstep: a bug in Lockstep ({type(error).__name__}); {where}\n")
    return BUG
