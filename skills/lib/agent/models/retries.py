"""How often a model is asked again, and how long is waited in between."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from skills.lib.agent.models.model_errors import Failure
from skills.lib.field_checks import check_count
from skills.lib.record import Record

# How long a wait goes on after a session was cancelled, at most.
NOTICED = 0.05


class Retries(Record):
    """The budget of one answer: so many tries, within so many seconds since the first; nobody waits beyond them.

    The wait doubles from ``first`` to ``longest`` seconds, less up to half by chance, so that many sessions do not come
    back at once. What the provider asks for in Retry-After takes its place, with up to a tenth more, if the budget
    allows it. A cancelled session stops waiting within a twentieth of a second.
    """

    tries: int = 5
    seconds: float = 300.0
    first: float = 1.0
    longest: float = 60.0
    is_cancelled: Callable[[], bool] = bool
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random

    def _check(self) -> None:
        check_count(self.tries, f"{self._label} tries")
        for name in ("seconds", "first", "longest"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
                raise ValueError(f"{self._label} {name}: {value!r} is not a number of seconds")


class Attempts:
    """The tries of one answer, counted."""

    def __init__(self, retries: Retries) -> None:
        self.retries = retries
        self.begun = retries.clock()
        self.count = 0

    @property
    def seconds(self) -> float:
        """The seconds since the first try began."""
        return self.retries.clock() - self.begun

    def pause(self, failure: Failure) -> float | None:
        """The seconds to wait before the next try; None if there is none."""
        if not failure.again or self.count >= self.retries.tries:
            return None
        if failure.retry_after is not None:
            wait = failure.retry_after * (1 + self.retries.chance() / 10)
        else:
            longest: float = min(self.retries.longest, self.retries.first * 2.0 ** min(self.count - 1, 60))
            wait = longest * (1 - self.retries.chance() / 2)
        return wait if self.seconds + wait <= self.retries.seconds else None
