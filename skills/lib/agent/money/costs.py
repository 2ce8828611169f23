"""What the model calls of a project's runs took and cost, summed up by run, skill, model, user or day."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from skills.lib.agent.money.pricing import Pricing, Usage
from skills.lib.record import Record

if TYPE_CHECKING:
    from skills.lib.agent.watching.activity import Activity, Row


class Call(Record):
    """A model call of a run; ``usage`` is None if no answer came, ``usd`` if the price is unknown."""

    run: str
    skill: str
    model: str
    user: str
    at: float
    usage: Usage | None
    usd: float | None = None
    is_estimate: bool = False

    @property
    def day(self) -> str:
        """The day (UTC) on which it was made."""
        return datetime.datetime.fromtimestamp(self.at, datetime.UTC).date().isoformat()


# By what calls are summed up.
KEYS: dict[str, Callable[[Call], str]] = {
    "model": lambda call: call.model,
    "skill": lambda call: call.skill,
    "run": lambda call: call.run,
    "user": lambda call: call.user,
    "day": lambda call: call.day,
}


class Sum(Record):
    """What some calls took; ``usd`` is of those whose price is known, ``unpriced`` counts the others.

    Of ``unanswered`` calls nothing else is known; ``estimated`` ones had no figures from their provider.
    """

    calls: int = 0
    input: int = 0
    cached: int = 0
    output: int = 0
    usd: float = 0.0
    unpriced: int = 0
    unanswered: int = 0
    estimated: int = 0

    @classmethod
    def of(cls, calls: Iterable[Call]) -> Sum:
        """The sum of these calls."""
        found = list(calls)
        answered = [call for call in found if call.usage is not None]
        usages = [call.usage for call in answered if call.usage is not None]
        return cls(
            calls=len(found),
            input=sum(usage.input for usage in usages),
            cached=sum(usage.cached for usage in usages),
            output=sum(usage.output for usage in usages),
            usd=sum(call.usd for call in answered if call.usd is not None),
            unpriced=sum(call.usd is None for call in answered),
            unanswered=len(found) - len(answered),
            estimated=sum(call.is_estimate for call in answered),
        )


def calls(
    activity: Activity, run: str, skill: str, runs: Iterable[str], pricing: Pricing, since: float = 0.0
) -> Iterator[Call]:
    """The model calls of a run and of its sub-agents' (``runs``, it among them) since a time, by run and in order."""
    for one in runs:
        taken = {row.data.get("call"): row for row in activity.rows(one, kind="usage")}
        for row in activity.rows(one, kind="model"):
            if row.at >= since:
                yield _call(run, skill, row, taken.get(row.id), pricing)


def grouped(found: Iterable[Call], by: str) -> dict[str, Sum]:
    """The sums of calls by a word of KEYS: days in order, all else by what it cost, the dearest first."""
    groups: dict[str, list[Call]] = {}
    for call in found:
        groups.setdefault(KEYS[by](call), []).append(call)
    sums = {name: Sum.of(several) for name, several in sorted(groups.items())}
    if by == "day":
        return sums
    return dict(sorted(sums.items(), key=lambda pair: (-pair[1].usd, -pair[1].input - pair[1].output)))


def _call(run: str, skill: str, row: Row, taken: Row | None, pricing: Pricing) -> Call:
    model = str(row.data.get("model", ""))
    if taken is None:
        return Call(run, skill, model, "", row.at, None)
    data = taken.data
    model = str(data.get("model", model))
    usage = Usage(**{name: _count(data.get(name)) for name in Usage().fields()})
    usd = data.get("usd")
    if not isinstance(usd, (int, float)):
        usd = pricing.usd(model, usage, row.at)
    return Call(run, skill, model, str(data.get("user", "")), row.at, usage, usd, bool(data.get("estimate")))


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
