"""Two calls that truly meet: both decide on the same state of the ledger, then the one commits, then the other.

Left to themselves, two calls of a few milliseconds seldom meet, and which of them comes first differs from run to run.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from skills.lib.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable

    Result = TypeVar("Result")

# Seconds after which a call is no longer waited for; one takes milliseconds.
PATIENCE = 10.0


def meet(first: Callable[[], Result], second: Callable[[], Result]) -> tuple[Result, Result, bool]:
    """Make both calls, each in a thread of its own: what they give, and whether both stood before their commit at once.

    ``second`` commits only once ``first`` has returned. One that commits nothing lets the other pass.
    """
    both, passed = threading.Barrier(2), threading.Event()
    coming: dict[int, Callable[[], Any]] = {}
    met: list[bool] = []
    commit = Ledger.commit

    def held(ledger: Ledger, *arguments: Any, **named: Any) -> Any:
        wait = coming.pop(threading.get_ident(), None)
        if wait:
            try:
                both.wait(PATIENCE)
                met.append(True)
            except threading.BrokenBarrierError:
                met.append(False)
            wait()
        return commit(ledger, *arguments, **named)

    def make(call: Callable[[], Result], wait: Callable[[], Any], then: Callable[[], Any]) -> Result:
        coming[threading.get_ident()] = wait
        try:
            return call()
        finally:
            if coming.pop(threading.get_ident(), None):
                both.abort()
            then()

    Ledger.commit = held  # type: ignore[method-assign, assignment]
    try:
        with ThreadPoolExecutor(2) as pool:
            one = pool.submit(make, first, lambda: None, passed.set)
            other = pool.submit(make, second, lambda: passed.wait(PATIENCE), lambda: None)
            return one.result(), other.result(), met == [True, True]
    finally:
        Ledger.commit = commit  # type: ignore[method-assign]
