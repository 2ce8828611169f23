"""What is told of a run's events: plain data, which templates show and programs read as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from skills.lib.model.types import Outcome
from skills.lib.views.findings import who
from skills.lib.views.records import iso, outcome_of
from skills.lib.views.surroundings import surroundings

if TYPE_CHECKING:
    from skills.lib.ledger.history import Event
    from skills.lib.model.steps import Workflow
    from skills.lib.views.visits import Visit

# Who gave an answer, in words; an older record has no kind of a person.
_PEOPLE = {
    "person": "a person at a terminal",
    "person (terminal)": "a person at a terminal",
    "person (prompt)": "a person, in the chat",
    "person (web)": "a person, in the run explorer",
}


def visit(one: Visit, workflow: Workflow | None) -> dict[str, Any]:
    """A visit with its events; ``seconds`` is how long the run was there, None if it still is."""
    number, title = 0, ""
    if workflow is not None and workflow.has(one.step):
        step = workflow.step(one.step)
        number, title = workflow.number(one.step), step.title
        title = "" if title.lower() == one.step.lower() else title
    return {
        "turn": one.entered.turn,
        "seq": one.entered.seq,
        "step": one.step,
        "number": number,
        "title": title,
        "iteration": one.iteration,
        "at": one.entered.at,
        "entered": iso(one.entered.at),
        "seconds": None if one.left is None else max(0.0, one.left.at - one.entered.at),
        "left": None if one.left is None else _left(one.left),
        "refused": sum(event.kind == "refused" for event in one.happened),
        "events": [event_of(event) for event in one.happened],
        "report": None if one.left is None else _report(one.left),
        "children": list(one.children),
        "session": [],
    }


def event_of(event: Event) -> dict[str, Any]:
    """An event: what it is called, who did it and when, and what it says."""
    return {
        "seq": event.seq,
        "turn": event.turn,
        "kind": event.kind,
        "name": _name(event),
        "by": _by(event),
        "at": event.at,
        "when": iso(event.at),
        **_report(event),
    }


def _left(event: Event) -> dict[str, Any]:
    """How a visit ended, and by whom."""
    moved = event.kind in ("moved", "finished")
    return {
        "kind": event.kind,
        "turn": event.turn,
        "outcome": outcome_of(event.detail) if moved else event.kind,
        "failed": moved and str(event.detail.get("outcome")) == Outcome.FAIL,
        "to": (event.detail.get("to") or "done") if moved else "",
        "by": _by(event),
        "at": event.at,
        "when": iso(event.at),
    }


def _report(event: Event) -> dict[str, Any]:
    """What an event says: ``facts`` (what was asked, recorded, answered), and ``evidence``."""
    detail = event.detail
    facts: list[dict[str, Any]] = []

    def add(name: str, given: Any, plain: bool = False) -> None:
        facts.append({"name": name, "value": given, "plain": plain})

    if event.kind == "refused":
        add("asked", str(detail.get("asked", "")))
        add("because", str(detail.get("why", "")))
    if event.kind == "asked":
        add("question", str((event.change.get("question") or {}).get("text", "")))
    if detail.get("answer") is not None:
        add("answer", detail["answer"])
        add("given by", _PEOPLE.get(event.actor, event.actor) if detail.get("by") == "person" else who(detail), True)
        if detail.get("prompt"):
            add("in their words", detail["prompt"])
    if detail.get("child"):
        add("sub-agent", str(detail["child"]), True)
    if detail.get("stale"):
        add("verdict", f"on {detail['stale']['checkpoint']} fell", True)
        add("changed files", detail["stale"]["files"])
    for name, note in detail.get("errata", {}).items():
        add(f"erratum to {name}", note)
    if detail.get("reason"):
        add("reason", str(detail["reason"]))
    for name, given in detail.get("recorded", {}).items():
        add(name, given)
    return {"facts": facts, "evidence": [_evidence(one) for one in detail.get("evidence", ())]}


def _evidence(one: Mapping[str, Any]) -> dict[str, Any]:
    """A check of evidence: what was looked at, whether it holds, and why not or what a command printed."""
    told = {"why": one.get("why") or "", "output": "" if one.get("why") else one.get("output") or ""}
    return {
        "kind": str(one.get("kind", "")),
        "what": str(one.get("what", "")),
        "ok": bool(one.get("ok")),
        "exit": one.get("exit"),
        **told,
        "notes": surroundings(one, whole=True),
    }


def _name(event: Event) -> str:
    if event.kind == "refused":
        return f"refused: {event.detail.get('code')}"
    return "a person is asked" if event.kind == "asked" else event.kind.replace("-", " ")


def _by(event: Event) -> str:
    by = "agent, for a person" if event.detail.get("by") == "reported" else event.actor
    return f"{by}: {event.detail['who']}" if event.detail.get("who") else by
