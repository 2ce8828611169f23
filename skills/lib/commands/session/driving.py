"""Drives a run in a thread, and shows what happens until the session ends or a person interrupts it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skills.lib.agent.results import SessionResult
    from skills.lib.agent.watching.events import Event
    from skills.lib.commands.session.display import Display

# The exit codes of a session that left its run at a question, and of one that ended before its run was done.
WAITING, STOPPED = 6, 7
# How often the events are read, in seconds.
PAUSE = 0.2
# How long an interrupted session has for its end, in seconds; the run is safe without it.
_GRACE = 3.0


class Follows(Protocol):
    """What this needs of an ``Agent``."""

    def advance(self, run: str) -> SessionResult: ...
    def cancel(self, run: str) -> None: ...
    def follow(self, run: str, after: str = ..., level: str = ...) -> Iterator[Event]: ...


class Driving:
    """One session of a run in a thread of its own."""

    def __init__(self, agent: Follows, run: str) -> None:
        self._agent, self._run = agent, run
        self._outcome: SessionResult | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._advance, name="lockstep-session", daemon=True)

    @property
    def is_alive(self) -> bool:
        """True if the session has not ended."""
        return self._thread.is_alive()

    def outcome(self, display: Display, after: str) -> SessionResult:
        """Drive the run and show its events after a cursor; where the session left it. Raises what the session raised.

        Raises KeyboardInterrupt if a person interrupts it; the session then stops before its next model call.
        """
        read = _Reader(self._agent, self._run, after, display.level)
        beside = _Reader(self._agent, self._run, after, "FULL") if display.watches else None
        self._thread.start()
        try:
            is_over = False
            while not is_over:
                is_over = not self.is_alive  # what was noted before its end is read after it
                read.each(display.show)
                if beside is not None:
                    beside.each(display.watch)
                if not is_over:
                    self._thread.join(PAUSE)
        except KeyboardInterrupt:
            self._agent.cancel(self._run)
            self._thread.join(_GRACE)
            raise
        if self._error is not None:
            raise self._error
        assert self._outcome is not None
        return self._outcome

    def _advance(self) -> None:
        try:
            self._outcome = self._agent.advance(self._run)
        except BaseException as error:
            self._error = error


class _Reader:
    """Reads the events of a run as they come."""

    def __init__(self, agent: Follows, run: str, after: str, level: str) -> None:
        self._agent, self._run, self._after, self._level = agent, run, after, level

    def each(self, show: Callable[[Event], None]) -> None:
        """Show the events that came since the last time."""
        for event in self._agent.follow(self._run, self._after, self._level):
            show(event)
            self._after = event.cursor
