"""The visits of a run: each entry of a step, with what happened there and the event that ended it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from skills.lib.views.records import outcome_of

if TYPE_CHECKING:
    from skills.lib.ledger.history import Event

# Events after which the run is no longer at the step.
LEAVING = ("moved", "finished", "abandoned", "lost", "replaced")


@dataclass
class Visit:
    """One entry of a step: the event that led there, what happened, the event that ended it (None: the run is there).

    ``iteration`` counts the entries of this step; ``children`` are the ids of the sub-agents that were started.
    """

    step: str
    iteration: int
    entered: Event
    happened: list[Event] = field(default_factory=list)
    left: Event | None = None
    children: list[str] = field(default_factory=list)


@dataclass
class History:
    """A run in order: its visits, and the events while it was at no step (before it began, after it ended)."""

    visits: list[Visit] = field(default_factory=list)
    beside: list[Event] = field(default_factory=list)

    def trail(self, status: str) -> str:
        """The way in words: the steps in the order of their entries, with the outcome of each."""
        parts = []
        for visit in self.visits:
            parts.append(visit.step)
            if visit.left is not None:
                detail = visit.left.detail
                parts.append(f"—{outcome_of(detail) if 'outcome' in detail else visit.left.kind}→")
        return " ".join(parts) + (f" {status}" if self.visits and self.visits[-1].left is not None else "")


def of_events(events: Sequence[Event]) -> History:
    """The history of one run from its events, which are in sequence."""
    history = History()
    entries: Counter[str] = Counter()
    current: Visit | None = None
    for event in events:
        if event.kind == "created":  # the parent's record says so too
            continue
        if event.kind in LEAVING or event.kind == "opened":
            if current is not None:
                current.left = event
            elif event.kind != "opened":
                history.beside.append(event)
            current = None
            step = event.change.get("step") if event.kind == "opened" else event.detail.get("to")
            if step:
                entries[step] += 1
                current = Visit(step, entries[step], event, children=list(event.change.get("children", ())))
                history.visits.append(current)
        elif current is None:
            history.beside.append(event)
        else:
            current.happened.append(event)
            current.children = list(event.change.get("children", current.children))
    return history
