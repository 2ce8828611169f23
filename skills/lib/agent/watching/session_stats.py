"""How the sessions of a skill go: success, model calls, recovery from failures, and what they cost.

A run counts if a model was asked in it; its sub-agents' are part of it. A call of a tool that failed is recovered if a
later call of the same step succeeded, and the step was then left by a report.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from skills.lib.agent.money import costs
from skills.lib.agent.money.costs import Sum
from skills.lib.agent.watching import failures
from skills.lib.model.run import FINISHED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills.lib.agent.money.costs import Call
    from skills.lib.agent.money.pricing import Pricing
    from skills.lib.agent.watching.activity import Activity
    from skills.lib.model.run import Run

# The statuses that are no success.
_LOST = ("failed", "abandoned")


class SessionStats:
    """The figures of the runs that were added."""

    def __init__(self) -> None:
        self.runs = self.done = self.ended = self.failed = self.recovered = 0
        self.classes: Counter[str] = Counter(retryable=0, fatal=0)
        self.recoveries: Counter[tuple[str, str, str]] = Counter()
        self.calls: list[Call] = []
        self._calls_of_done = 0

    def add(self, tree: Sequence[Run], skill: str, activity: Activity, pricing: Pricing) -> None:
        """Add a run with its sub-agents' runs, itself the first; nothing if no model was asked in it."""
        root = tree[0]
        made = list(costs.calls(activity, root.id, skill, [run.id for run in tree], pricing))
        if not made:
            return
        stops = activity.rows(root.id, kind="stopped")
        self.runs += 1
        self.calls += made
        self.done += root.status == "done"
        self.ended += root.status == "done" or root.status in _LOST or bool(stops)
        self._calls_of_done += len(made) if root.status == "done" else 0
        for run in tree:
            for one in failures.failed(activity.rows(run.id)):
                self._add_failed(one, run)
        for row in stops:
            is_retryable = failures.is_retryable(str(row.data.get("reason", "")))
            if is_retryable is not None:
                self.classes["retryable" if is_retryable else "fatal"] += 1

    def _add_failed(self, one: failures.Failed, run: Run) -> None:
        self.failed += 1
        self.classes["retryable" if one.kind in failures.RETRYABLE else "fatal"] += 1
        if one.then and (run.turn > one.turn or run.status in FINISHED):
            self.recovered += 1
            self.recoveries[one.tool, one.kind, one.then] += 1

    def data(self) -> dict[str, Any]:
        """The figures by name, for a program; a rate is a share of 1, None if there is nothing to take it of."""
        common = self.recoveries.most_common(1)
        by_model = costs.grouped(self.calls, "model")
        return {
            "runs": self.runs,
            "done": self.done,
            "ended": self.ended,
            "success_rate": _share(self.done, self.ended),
            "model_calls_a_run": round(self._calls_of_done / self.done, 2) if self.done else None,
            "failed_calls": self.failed,
            "recovered": self.recovered,
            "recovery_rate": _share(self.recovered, self.failed),
            "most_common_recovery": _recovery(*common[0]) if common else None,
            "failures": dict(self.classes),
            "cost": Sum.of(self.calls).fields(),
            "cost_by_model": {name: one.fields() for name, one in by_model.items()},
        }


def _recovery(recovery: tuple[str, str, str], times: int) -> dict[str, Any]:
    return {**dict(zip(("tool", "failure", "then"), recovery, strict=True)), "times": times}


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
