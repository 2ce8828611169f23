"""Bounds a call in time: what does not end by itself is not waited for."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import TypeVar

from skills.lib.errors import EnvironmentProblem

T = TypeVar("T")


class TimedOut(EnvironmentProblem):
    """A call did not end in the time that an iteration has."""


def within(seconds: float, call: Callable[[], T]) -> T:
    """What a call returns. Raises TimedOut after so many seconds, 0 for any time; the call goes on by itself then."""
    if not seconds:
        return call()
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(call())
        except BaseException as error:  # raised again where it is waited for
            failed.append(error)

    context = contextvars.copy_context()
    thread = threading.Thread(target=lambda: context.run(run), name="lockstep-call", daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not found:
        raise timed_out(seconds)
    return found[0]


def timed_out(seconds: float) -> TimedOut:
    """The error for a call that did not end in so many seconds."""
    return TimedOut(
        f"it took more than the {seconds:g} s that timeout_per_iteration allows",
        remedy="it may still be at work: look at what it did, and try a smaller part or another way",
    )
