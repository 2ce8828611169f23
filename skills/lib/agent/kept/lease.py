"""One process drives a run at a time: a lock on a file, which the system releases when the process dies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from skills.lib import paths
from skills.lib.errors import RefusedError


@contextmanager
def lease(home: str, run: str) -> Iterator[None]:
    """Hold the lease of a run and of its sub-agents', which is one. Raises RefusedError if another session has it."""
    from filelock import FileLock, Timeout  # of the extra

    folder = os.path.join(home, "agent", "leases")
    link = paths.link_in(home, "agent", "leases")
    if link:
        raise RefusedError(f"{link} is a link: nothing is written through it", remedy="remove it")
    os.makedirs(folder, 0o700, exist_ok=True)
    root, _, _ = run.partition(".")
    lock = FileLock(os.path.join(folder, f"{root}.lock"), mode=0o600, thread_local=False, is_singleton=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        what = f"another session drives run {root} at this moment"
        raise RefusedError(what, remedy=f"wait for it, or look on: lockstep trace {root}") from None
    try:
        yield
    finally:
        lock.release()


def is_held(home: str, run: str) -> bool:
    """True if a session drives the run, or the run that it is a sub-agent's of, in any process of this machine."""
    try:
        with lease(home, run):
            return False
    except RefusedError:
        return True
