"""Where the hook keeps what is known for the policy of a run, and the digest of it that the ledger keeps."""

from __future__ import annotations

import os

from skills.lib import compact_json, paths

# The length of the checksum at the beginning of each line of facts; it is chained to the line before.
SUM = 32
_LONGEST_LINE = 1_000_000


def folder() -> str:
    """The folder of the facts, in the folder of what Lockstep keeps for a user."""
    return os.path.join(paths.state(), "facts")


def name(run: str, project: str, layer: str = "") -> str:
    """The name of the facts of a run's policy, or of that of a layer of it.

    They are the run's, whichever session goes on with it.
    """
    return f"run-{compact_json.digest([run, project, layer] if layer else [run, project])}"


def digest(run: str, project: str, layer: str = "") -> str:
    """The checksum of the last line of these facts, which stands for all of them; "" if there are none."""
    try:
        path = os.path.join(folder(), name(run, project, layer))
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            size = os.fstat(file).st_size
            tail = os.pread(file, _LONGEST_LINE, max(0, size - _LONGEST_LINE))
        finally:
            os.close(file)
    except OSError:
        return ""
    found = tail.rstrip(b"\n").rpartition(b"\n")[2][:SUM].decode("ascii", "replace")
    return found if len(found) == SUM and set(found) <= set("0123456789abcdef") else ""
