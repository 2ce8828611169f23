"""Whether a session was cancelled: by its own program, or by another process that says so in the activities."""

from __future__ import annotations

import time

from skills.lib.errors import LedgerError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from skills.lib.agent.watching.activity import Activity

KIND = "cancel"
# How often another process's word is looked for, in seconds.
_PAUSE = 0.2


def newest(activity: Activity, run: str) -> int:
    """The id of a run's last cancellation, of which a session that begins now takes no note; 0 if there is none."""
    return max((row.id for row in activity.rows(run.partition(".")[0], kind=KIND)), default=0)


class Cancellation:
    """True once somebody cancelled the session of a run, or of the run that it is a sub-agent's of.

    ``own`` says whether this program did; a cancellation up to the id ``after`` is of an earlier session.
    """

    def __init__(self, activity: Activity, run: str, own: Callable[[], bool], after: int) -> None:
        self._activity, self._root, self._own, self._after = activity, run.partition(".")[0], own, after
        self._looked = 0.0
        self._found = False

    def __call__(self) -> bool:
        if self._found or self._own():
            return True
        now = time.monotonic()
        if now - self._looked >= _PAUSE:
            self._looked = now
            try:
                self._found = bool(self._activity.rows(self._root, kind=KIND, after=self._after))
            except LedgerError:  # closed: the session is over
                return True
        return self._found
