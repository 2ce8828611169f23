"""Removes what sessions left of runs that are removed: activities, conversations, lists of todos, leases."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from typing import TYPE_CHECKING

from skills.lib import files
from skills.lib.agent.watching.activity import FILE, FOLDER, Activity
from skills.lib.errors import LedgerError

if TYPE_CHECKING:
    from collections.abc import Sequence

_CONVERSATIONS = "checkpoints.db"
_TABLES = ("checkpoints", "writes")
# The files of one run, below the folder of the agent.
_FILES = (("todos", ".json"), ("leases", ".lock"))


def forget(home: str, runs: Sequence[str]) -> None:
    """Remove what is kept of these runs, and of their sub-agents' runs, in the home folder of a ledger.

    Raises LedgerError if a file of it cannot be used; what is in the others is removed then, too.
    """
    folder = os.path.join(home, FOLDER)
    for run in runs:
        for name, end in _FILES:
            if not os.path.islink(os.path.join(folder, name)):
                files.remove(os.path.join(folder, name, f"{run}{end}"))
    try:
        forget_conversations(os.path.join(folder, _CONVERSATIONS), runs)
    finally:
        if os.path.lexists(os.path.join(folder, FILE)):
            with Activity(os.path.join(folder, FILE)) as activity:
                activity.remove(runs)


def forget_conversations(path: str, runs: Sequence[str]) -> None:
    """Remove the threads of these runs, as the saver of LangGraph does, which need not be installed for that."""
    if os.path.islink(path) or not os.path.isfile(path):
        return
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=10)) as connection, connection:
            made = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            for table in made.intersection(_TABLES):  # a session that begins may be about to make them
                connection.executemany(f"DELETE FROM {table} WHERE thread_id=?", [(run,) for run in runs])  # noqa: S608  names of ours
    except sqlite3.Error as error:
        remedy = "the conversations in it are of use to sessions that go on alone: move it away, no run is lost"
        raise LedgerError(f"{path} cannot be used: {error}", remedy=remedy) from error
