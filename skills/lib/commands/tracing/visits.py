"""The visits of a run, each entry of a step with what happened there, and their sections of the page.

A section shows what was recorded and proved, refused and answered, and which sub-agents were started.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lxml import html

from skills.lib.commands.queries.runs import moment, outcome_of
from skills.lib.commands.tracing.markup import Piece, el, facts, table, value
from skills.lib.model.types import Outcome
from skills.lib.views.findings import who
from skills.lib.views.surroundings import surroundings

if TYPE_CHECKING:
    from skills.lib.ledger.history import Event
    from skills.lib.model.steps import Workflow

# Who gave an answer, in words; an older record has no kind of a person.
_PEOPLE = {
    "person": "a person at a terminal",
    "person (terminal)": "a person at a terminal",
    "person (prompt)": "a person, in the chat",
}
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


class Visits:
    """The visits of one run; ``known`` are the runs with a section of their own, each with what it is about."""

    def __init__(self, limit: int | None, workflow: Workflow | None, known: Mapping[str, str]) -> None:
        self.limit = limit
        self.workflow = workflow
        self.known = known

    def sections(self, history: History) -> Iterator[html.HtmlElement]:
        """One section for each visit, and one for the events that happened while the run was at no step."""
        for visit in history.visits:
            yield el("details", el("summary", self._summary(visit)), self._inside(visit), class_="stay", open="open")
        if history.beside:
            inside = [self._event(event) for event in history.beside]
            yield el("details", el("summary", "At no step"), inside, class_="stay", open="open")

    def _summary(self, visit: Visit) -> Iterator[Piece]:
        number, title = "", ""
        if self.workflow is not None and self.workflow.has(visit.step):
            number, title = f"{self.workflow.number(visit.step)} ", self.workflow.step(visit.step).title
        yield el("strong", f"{number}{visit.step}")
        yield f" {title}" if title and title.lower() != visit.step.lower() else ""
        again = f", entry {visit.iteration}" if visit.iteration > 1 else ""
        yield el("span", f" · turn {visit.entered.turn}{again}, {moment(visit.entered.at)}", class_="faint")
        if visit.left is None:
            yield el("strong", " · here the run stands", class_="wait")
        else:
            yield " · "
            yield from _left(visit.left)
        refused = sum(event.kind == "refused" for event in visit.happened)
        if refused:
            yield el("span", f" · {refused} refused", class_="bad")

    def _inside(self, visit: Visit) -> Iterator[Piece]:
        for event in visit.happened:
            yield self._event(event)
        if visit.left is not None:
            yield from self._report(visit.left)
        if visit.children:
            yield el("div", "Sub-agents:", el("ul", [el("li", self._link(child)) for child in visit.children]))

    def _link(self, child: str) -> Iterator[Piece]:
        about = self.known.get(child)
        yield child if about is None else el("a", child, href=f"#run-{child}")
        yield el("span", f" {about}", class_="faint") if about else ""

    def _event(self, event: Event) -> html.HtmlElement:
        head = el("p", el("strong", _name(event)), el("span", f" · {_by(event)}, {moment(event.at)}", class_="faint"))
        return el("div", head, self._report(event), class_=f"event {event.kind}")

    def _report(self, event: Event) -> Iterator[Piece]:
        """What an event says: what was asked and refused, recorded, proved, answered."""
        detail = event.detail
        pairs: list[tuple[str, Piece]] = []
        if event.kind == "refused":
            pairs += [("asked", value(str(detail.get("asked", "")), self.limit))]
            pairs += [("because", value(str(detail.get("why", "")), self.limit))]
        if event.kind == "asked":
            pairs += [("question", value(str((event.change.get("question") or {}).get("text", "")), self.limit))]
        if detail.get("answer") is not None:
            by = _PEOPLE.get(event.actor, event.actor) if detail.get("by") == "person" else who(detail)
            pairs += [("answer", value(detail["answer"], self.limit)), ("given by", by)]
            pairs += [("in their words", value(detail["prompt"], self.limit))] if detail.get("prompt") else []
        if detail.get("child"):
            pairs += [("sub-agent", str(detail["child"]))]
        if detail.get("stale"):
            stale = detail["stale"]
            pairs += [
                ("verdict", f"on {stale['checkpoint']} fell"),
                ("changed files", value(stale["files"], self.limit)),
            ]
        pairs += [(f"erratum to {name}", value(note, self.limit)) for name, note in detail.get("errata", {}).items()]
        if detail.get("reason"):
            pairs += [("reason", value(str(detail["reason"]), self.limit))]
        for name, given in detail.get("recorded", {}).items():
            pairs.append((name, value(given, self.limit)))
        if pairs:
            yield facts(pairs)
        if detail.get("evidence"):
            yield table(("evidence", "what", "result"), [self._evidence(one) for one in detail["evidence"]])

    def _evidence(self, one: Mapping[str, Any]) -> list[Piece | list[Piece]]:
        code = f", exit {one['exit']}" if one.get("exit") is not None else ""
        good = bool(one.get("ok"))
        result: list[Piece] = [el("strong", ("holds" if good else "fails") + code, class_="good" if good else "bad")]
        result += [
            value(one[name], self.limit)
            for name in ("why", "output")
            if one.get(name) and not (name == "output" and one.get("why"))
        ]
        result += [value(note, self.limit) for note in surroundings(one, whole=True)]
        return [str(one.get("kind", "")), value(str(one.get("what", "")), self.limit), result]


def _left(event: Event) -> Iterator[Piece]:
    """How a visit ended, and by whom."""
    if event.kind not in ("moved", "finished"):
        yield f"{event.kind}, by {_by(event)}"
        return
    outcome = str(event.detail.get("outcome"))
    yield el("span", outcome_of(event.detail), class_="bad" if outcome == Outcome.FAIL else None)
    yield f" → {event.detail.get('to') or 'done'}, by {_by(event)}"


def _name(event: Event) -> str:
    if event.kind == "refused":
        return f"refused: {event.detail.get('code')}"
    return "a person is asked" if event.kind == "asked" else event.kind.replace("-", " ")


def _by(event: Event) -> str:
    by = "agent, for a person" if event.detail.get("by") == "reported" else event.actor
    return f"{by}: {event.detail['who']}" if event.detail.get("who") else by
