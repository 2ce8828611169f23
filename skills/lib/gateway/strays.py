"""Finds what a process has started, wherever it has moved, by a mark in the environment; on Linux alone.

It imports nothing of Lockstep: a script that runs without it uses this file by its path.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

# The variable that has the mark.
MARK = "LOCKSTEP_GATEWAY_RUN"


def end(mark: str, but: int = 0) -> None:
    """Kill the processes of this user that have the mark, but for the one with this id."""
    for _ in range(20):
        found = [pid for pid in _marked(mark) if pid != but]
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            break
        time.sleep(0.01)


def count(mark: str) -> int:
    """How many processes of this user have the mark."""
    return len(_marked(mark))


def count_of_all() -> int:
    """How many processes the machine has, of anybody; -1 where /proc does not show it."""
    return sum(name.isdigit() for name in os.listdir("/proc")) if sys.platform.startswith("linux") else -1


def _marked(mark: str) -> list[int]:
    """The processes of this user that have the mark in their environment; none where /proc does not show it."""
    if not sys.platform.startswith("linux"):
        return []
    found, wanted = [], f"{MARK}={mark}".encode()
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
                if wanted in file.read(1 << 20) and not _has_ended(name):
                    found.append(int(name))
    return found


def _has_ended(pid: str) -> bool:
    """True for a process that has ended and that its parent has not asked about."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()[:1] == [b"Z"]
    return True
