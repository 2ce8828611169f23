"""What one worker does for all: runs of the ledger are put into the queue, and those of dead workers taken over.

Whoever has the lock does it for a while. If it dies, or hangs until the lock runs out, another worker goes on, so
nothing is left to nobody.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from skills.lib.agent.kept import submissions

if TYPE_CHECKING:
    from skills.lib.fleet.members import Members
    from skills.lib.fleet.queue import Queue
    from skills.lib.ledger import Ledger

# How long one turn of the job may take at most before another worker does it, in seconds.
_LOCK = 30.0
# How long the queue keeps what has ended, and how often that is looked at, in seconds.
_KEPT, _FORGETS = 3600.0, 60.0


class Keeper:
    """Keeps the queue to what the ledger says, for one worker among others."""

    def __init__(self, worker: str, members: Members, queue: Queue) -> None:
        self._worker, self._members, self._queue = worker, members, queue
        self._forgets_at = 0.0

    def keep(self, ledger: Ledger | None) -> None:
        """Do the job once, unless another worker has it."""
        if not self._members.lock("keeper", self._worker, _LOCK):
            return
        entries = self._queue.entries()
        members = {one.worker: one for one in self._members.members()}
        orphans = [
            one for one in entries if one.is_at_work and not (one.executor in members and members[one.executor].is_live)
        ]
        if orphans:
            self._queue.take_over(orphans)
        if time.monotonic() >= self._forgets_at:
            self._queue.forget(_KEPT)
            self._forgets_at = time.monotonic() + _FORGETS
        if ledger is None:
            return
        known = {one.run for one in entries}
        followed = {run for one in members.values() if one.is_live for run in one.runs}
        # By priority: a worker may take the first one before the others are there.
        for one in sorted(submissions.each(ledger), key=lambda one: one.priority):
            if one.reason or one.status != "open" or one.run in known or one.run in followed:
                continue
            run = ledger.run(one.run)
            if run is not None and run.status == "open" and not ledger.is_paused(run):
                self._queue.put(one.run, one.user, one.priority)
