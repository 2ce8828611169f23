"""When DBOS's poller looks for a worker's next run: at once after one has ended, and seldom while nothing happens."""

from __future__ import annotations

import threading

# The first pause of the poller, and the longest one, in seconds.
SHORTEST, LONGEST = 0.005, 0.25


class Pace(threading.Event):
    """The stop event that DBOS's poller waits for between two looks, with pauses that can be cut short.

    Each pause is twice the one before, up to LONGEST. If DBOS asks for longer ones, as when workers get in each
    other's way, they are as long as it asks.
    """

    def __init__(self) -> None:
        super().__init__()
        self._quick = threading.Event()
        self._factor = 1.0

    def set(self) -> None:
        """Stop the poller."""
        super().set()
        self._quick.set()

    def quicken(self) -> None:
        """Have it look now, and soon again: there may be something to take."""
        self._factor = 1.0
        self._quick.set()

    def slow(self) -> None:
        """Have it pause as long as it may: there is nothing that it could take."""
        self._factor = LONGEST / SHORTEST

    def wait(self, timeout: float | None = None) -> bool:
        """Pause; True if the poller is to stop. ``timeout`` is the shortest pause."""
        shortest = SHORTEST if timeout is None else timeout
        if self._quick.wait(max(shortest, min(shortest * self._factor, LONGEST))) and not self.is_set():
            self._quick.clear()
            super().wait(shortest)  # DBOS writes down first that the run has ended
        self._factor = min(2 * self._factor, LONGEST / SHORTEST)
        return self.is_set()
