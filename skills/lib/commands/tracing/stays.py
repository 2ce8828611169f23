"""The stays of a run as sections: what was recorded and proved, what was refused, who answered, who was sent out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lxml import html

from skills.lib.commands.queries.runs import moment, outcome_told
from skills.lib.commands.queries.timeline import surroundings
from skills.lib.commands.tracing.chronicle import Chronicle, Stay
from skills.lib.commands.tracing.findings import who
from skills.lib.commands.tracing.markup import Piece, el, facts, table, value
from skills.lib.model.types import Outcome

if TYPE_CHECKING:
    from skills.lib.ledger import Event
    from skills.lib.model.steps import Workflow


class Stays:
    """Tells the stays of one run; ``known`` are the runs that have a section to lead to, each with what it is about."""

    def __init__(self, limit: int | None, workflow: Workflow | None, known: Mapping[str, str]) -> None:
        self.limit = limit
        self.workflow = workflow
        self.known = known

    def sections(self, told: Chronicle) -> Iterator[html.HtmlElement]:
        """One section for each stay, and one for what was noted while the run stood at no step."""
        for stay in told.stays:
            yield el("details", el("summary", self._summary(stay)), self._inside(stay), class_="stay", open="open")
        if told.beside:
            inside = [self._event(event) for event in told.beside]
            yield el("details", el("summary", "At no step"), inside, class_="stay", open="open")

    def _summary(self, stay: Stay) -> Iterator[Piece]:
        number, title = "", ""
        if self.workflow is not None and self.workflow.has(stay.step):
            number, title = f"{self.workflow.number(stay.step)} ", self.workflow.step(stay.step).title
        yield el("strong", f"{number}{stay.step}")
        yield f" {title}" if title and title.lower() != stay.step.lower() else ""
        again = f", entry {stay.iteration}" if stay.iteration > 1 else ""
        yield el("span", f" · turn {stay.entered.turn}{again}, {moment(stay.entered.at)}", class_="faint")
        if stay.left is None:
            yield el("strong", " · here the run stands", class_="wait")
        else:
            yield " · "
            yield from _left(stay.left)
        refused = sum(event.kind == "refused" for event in stay.happened)
        if refused:
            yield el("span", f" · {refused} refused", class_="bad")

    def _inside(self, stay: Stay) -> Iterator[Piece]:
        for event in stay.happened:
            yield self._event(event)
        if stay.left is not None:
            yield from self._report(stay.left)
        if stay.children:
            yield el("div", "Sub-agents:", el("ul", [el("li", self._link(child)) for child in stay.children]))

    def _link(self, child: str) -> Iterator[Piece]:
        about = self.known.get(child)
        yield child if about is None else el("a", child, href=f"#run-{child}")
        yield el("span", f" {about}", class_="faint") if about else ""

    def _event(self, event: Event) -> html.HtmlElement:
        head = el("p", el("strong", _name(event)), el("span", f" · {_by(event)}, {moment(event.at)}", class_="faint"))
        return el("div", head, self._report(event), class_=f"event {event.kind}")

    def _report(self, event: Event) -> Iterator[Piece]:
        """What an event tells: what was asked and refused, recorded, proved, answered."""
        detail = event.detail
        pairs: list[tuple[str, Piece]] = []
        if event.kind == "refused":
            pairs += [("asked", value(str(detail.get("asked", "")), self.limit))]
            pairs += [("because", value(str(detail.get("why", "")), self.limit))]
        if event.kind == "asked":
            pairs += [("question", value(str((event.change.get("question") or {}).get("text", "")), self.limit))]
        if detail.get("answer") is not None:
            pairs += [("answer", value(detail["answer"], self.limit)), ("given by", _answered(detail))]
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
        result += [value(told, self.limit) for told in surroundings(one, whole=True)]
        return [str(one.get("kind", "")), value(str(one.get("what", "")), self.limit), result]


def _left(event: Event) -> Iterator[Piece]:
    """How a stay ended, and by whom."""
    if event.kind not in ("moved", "finished"):
        yield f"{event.kind}, by {_by(event)}"
        return
    outcome = str(event.detail.get("outcome"))
    yield el("span", outcome_told(event.detail), class_="bad" if outcome == Outcome.FAIL else None)
    yield f" → {event.detail.get('to') or 'done'}, by {_by(event)}"


def _name(event: Event) -> str:
    if event.kind == "refused":
        return f"refused: {event.detail.get('code')}"
    return "a person is asked" if event.kind == "asked" else event.kind.replace("-", " ")


def _by(event: Event) -> str:
    return "agent, for a person" if event.detail.get("by") == "reported" else event.actor


def _answered(detail: Mapping[str, Any]) -> str:
    return "a person at a terminal" if detail.get("by") == "person" else who(detail)
