"""The limits of a session, counted from the activities, so that a restart does not begin them anew."""

from __future__ import annotations

import threading
from collections import Counter

from skills.lib import compact_json
from skills.lib.agent.configuration.settings import SIMPLE
from skills.lib.model.texts import counted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from skills.lib.agent.configuration.settings import Settings
    from skills.lib.agent.watching.activity import Activity, Row

# After a success of one of these, what failed before may be tried again.
_CHANGING = ("edit", "write")


class Limits:
    """How far a run's session is from its limits. A session that goes on after a stop has all of them again.

    Model calls are counted per entry of a step, or ``per_run``.
    """

    def __init__(self, activity: Activity, settings: Settings, run: str, *, per_run: bool = False) -> None:
        self._activity, self._settings, self._run = activity, settings, run
        self._per_run = per_run
        self.begun = 0
        self._lock = threading.Lock()
        self._failures: _Failures | None = None

    def begin(self) -> None:
        """Count anew from the last stop: a person asked the run to go on."""
        self.begun = max((row.id for row in self._activity.rows(self._run, kind="stopped")), default=0)

    def stopped(self) -> str:
        """Why the session was stopped since it began; "" if it was not."""
        rows = self._rows(kind="stopped")
        return str(rows[-1].data["reason"]) if rows else ""

    def spent(self, turn: int) -> str:
        """Why no further model call is made in this entry of the step, run or session; "" if one may be."""
        most, session = self._settings.max_iterations, self._settings.max_model_calls
        if (self.calls_of_session() if self._per_run else self.calls(turn)) >= most:
            if self._per_run and self._settings.execution_mode == SIMPLE:
                return f"The one pass of execution_mode: simple is over, after {counted(most, 'model call')}."
            where = "run" if self._per_run else "step"
            return f"{most} model calls were made in this {where}, which is all that max_iterations allows."
        if self.calls_of_session() >= session:
            return f"{session} model calls were made in this session, which is all that max_model_calls allows."
        return ""

    def calls(self, turn: int) -> int:
        """How many model calls were begun in this entry of the step."""
        return len(self._rows(turn=turn, kind="model"))

    def calls_of_session(self) -> int:
        """How many model calls were begun in all steps since the last stop."""
        count = self._activity.count
        return count(self._run, kind="model") - count(self._run, kind="model", until=self.begun)

    def early_ends(self, turn: int) -> int:
        """How often a model was sent back in this entry of the step."""
        return len(self._rows(turn=turn, kind="sent-back"))

    def too_often(self, digest: str, turn: int) -> str:
        """Why a call that failed before is not made again; "" if it may be. ``digest`` is of its tool and arguments."""
        with self._lock:
            if self._failures is None or (self._failures.turn, self._failures.begun) != (turn, self.begun):
                self._failures = _Failures(turn, self.begun)
            self._failures.take(self._activity.rows(self._run, turn=turn, after=self._failures.until))
            failed = self._failures.counts[digest]
        if failed < self._settings.tool_failures:
            return ""
        return f"this call failed {counted(failed, 'time')} with these arguments. Try another way."

    def _rows(self, **about: Any) -> list[Row]:
        return self._activity.rows(self._run, after=self.begun, **about)


class _Failures:
    """How often which call failed in a turn, read row by row: what was read is not read again."""

    def __init__(self, turn: int, begun: int) -> None:
        self.turn, self.begun, self.until = turn, begun, begun
        self.counts: Counter[str] = Counter()
        self._called: dict[str, str] = {}

    def take(self, rows: list[Row]) -> None:
        for row in rows:
            self.until = row.id
            if row.kind == "call":
                self._called[row.data["key"]] = row.data.get("digest") or _digest(row.data)
            elif row.kind == "result" and not row.data["ok"]:
                self.counts[self._called.get(row.data["key"], "")] += 1
            elif row.kind == "result" and row.data["tool"] in _CHANGING:
                self.counts.clear()
            elif row.kind == "result":
                self.counts.pop(self._called.get(row.data["key"], ""), None)


def _digest(call: Mapping[str, Any]) -> str:
    return compact_json.digest([call["tool"], dict(call["arguments"])])
