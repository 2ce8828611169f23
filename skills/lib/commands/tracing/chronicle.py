"""The events of a run as stays: each entry of a step with what happened there and how it was left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from skills.lib.commands.queries.runs import outcome_told
from skills.lib.model.types import Outcome

if TYPE_CHECKING:
    from skills.lib.ledger import Event
    from skills.lib.model.steps import Workflow

# Events after which the run is not at the step any more.
LEAVING = ("moved", "finished", "abandoned", "lost", "replaced")


@dataclass
class Stay:
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
class Chronicle:
    """A run in order: its stays, and what was noted while it stood at no step (before it began, after it ended)."""

    stays: list[Stay] = field(default_factory=list)
    beside: list[Event] = field(default_factory=list)


def tell(events: Sequence[Event]) -> Chronicle:
    """The chronicle of one run's events, which are in sequence."""
    told = Chronicle()
    entries: Counter[str] = Counter()
    current: Stay | None = None
    for event in events:
        if event.kind == "created":  # the parent's record says so too
            continue
        if event.kind in LEAVING or event.kind == "opened":
            if current is not None:
                current.left = event
            elif event.kind != "opened":
                told.beside.append(event)
            current = None
            step = event.change.get("step") if event.kind == "opened" else event.detail.get("to")
            if step:
                entries[step] += 1
                current = Stay(step, entries[step], event, children=list(event.change.get("children", ())))
                told.stays.append(current)
        elif current is None:
            told.beside.append(event)
        else:
            current.happened.append(event)
            current.children = list(event.change.get("children", current.children))
    return told


def turns(events: Sequence[Event], workflow: Workflow) -> dict[tuple[str, str], list[int]]:
    """The turns to which each route led, by step and the outcome under which the graph has it."""
    found: dict[tuple[str, str], list[int]] = {}
    for event in events:
        source, outcome = event.detail.get("from"), event.detail.get("outcome")
        if event.kind in ("moved", "finished") and source and outcome:
            if workflow.has(source) and outcome not in workflow.step(source).next:
                outcome = Outcome.DEFAULT.value
            found.setdefault((str(source), str(outcome)), []).append(event.turn)
    return found


def trail(told: Chronicle, status: str) -> str:
    """The way in words: the steps in the order of their entries, with the outcome of each."""
    parts = []
    for stay in told.stays:
        parts.append(stay.step)
        if stay.left is not None:
            parts.append(_arrow(stay.left.detail, stay.left.kind))
    return " ".join(parts) + (f" {status}" if told.stays and told.stays[-1].left is not None else "")


def _arrow(detail: Mapping[str, object], kind: str) -> str:
    return f"—{outcome_told(detail) if 'outcome' in detail else kind}→"
