"""The limits of a session, counted from the activities, so that a restart does not begin them anew."""

from __future__ import annotations

from skills.lib import compact_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from skills.lib.agent.activity import Activity, Row
    from skills.lib.agent.settings import Settings

# After a success of one of these, what failed before may be tried again.
_CHANGING = ("edit", "write")


class Limits:
    """How far a run's session is from its limits. A session that goes on after a stop has all of them again."""

    def __init__(self, activity: Activity, settings: Settings, run: str) -> None:
        self._activity, self._settings, self._run = activity, settings, run
        self.begun = 0

    def begin(self) -> None:
        """Count anew from the last stop: a person asked the run to go on."""
        self.begun = max((row.id for row in self._activity.rows(self._run, kind="stopped")), default=0)

    def stopped(self) -> str:
        """Why the session was stopped since it began; "" if it was not."""
        rows = self._rows(kind="stopped")
        return str(rows[-1].data["reason"]) if rows else ""

    def spent(self, turn: int) -> str:
        """Why no further model call is made in this entry of the step; "" if one may be."""
        most = self._settings.max_iterations
        if self.calls(turn) < most:
            return ""
        return f"{most} model calls were made in this step, which is all that max_iterations allows."

    def calls(self, turn: int) -> int:
        """How many model calls were begun in this entry of the step."""
        return len(self._rows(turn=turn, kind="model"))

    def early_ends(self, turn: int) -> int:
        """How often a model was sent back in this entry of the step."""
        return len(self._rows(turn=turn, kind="sent-back"))

    def too_often(self, tool: str, arguments: Mapping[str, Any], turn: int) -> str:
        """Why a call that failed before is not made again; "" if it may be."""
        failed, same = 0, set[str]()
        for row in self._rows(turn=turn):
            if row.kind == "call" and _same(row, tool, arguments):
                same.add(row.data["key"])
            elif row.kind == "result" and row.data["key"] in same:
                failed = 0 if row.data["ok"] else failed + 1
            elif row.kind == "result" and row.data["ok"] and row.data["tool"] in _CHANGING:
                failed = 0
        if failed < self._settings.tool_failures:
            return ""
        return f"this call failed {failed} times with these arguments. Try another way."

    def _rows(self, **about: Any) -> list[Row]:
        return self._activity.rows(self._run, after=self.begun, **about)


def _same(row: Row, tool: str, arguments: Mapping[str, Any]) -> bool:
    if row.data["tool"] != tool:
        return False
    try:
        return compact_json.ordered(row.data["arguments"]) == compact_json.ordered(dict(arguments))
    except (TypeError, ValueError, RecursionError):
        return False
