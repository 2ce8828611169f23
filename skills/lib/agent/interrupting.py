"""What an interrupt (^C) does to a session: a tool runs in a thread of its own, which is waited for."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def interruptible(cancel: Callable[[], None]) -> Iterator[None]:
    """Have an interrupt call ``cancel`` before it is handled as before; nothing changes outside of the main thread."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return

    def interrupted(number: int, frame: object) -> None:
        cancel()
        before(number, frame)  # type: ignore[arg-type]

    signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
