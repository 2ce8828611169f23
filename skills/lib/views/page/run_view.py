"""A run as plain data for its page: headline, graph, reviews, visits; what a reader may not see is not in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skills.lib.agent.watching.visibility import FULL, HIDDEN
from skills.lib.clean_text import one_line
from skills.lib.errors import SkillError
from skills.lib.model.run import Run
from skills.lib.model.steps import Workflow
from skills.lib.model.texts import shortened
from skills.lib.model.types import Outcome
from skills.lib.views import findings, visits
from skills.lib.views.drawing import edges
from skills.lib.views.page import told
from skills.lib.views.page.rendering import span
from skills.lib.views.records import Records, about, iso, left_undone, skill_of, status_line, undone

if TYPE_CHECKING:
    from skills.lib.model.steps import Handler

# How much of a sub-agent's target its line shows.
TARGET = 120
# What of a sub-agent's order is shown.
_SPEC = ("agent", "model", "checkpoint", "target", "task", "context")


class RunView:
    """What is shown of one run: its events are read once, and each part is made when it is asked for."""

    def __init__(self, records: Records, run: Run, level: str = FULL) -> None:
        self.records = records
        self.run = run
        self.level = level
        self.events = records.events(run.id)
        self.history = visits.of_events(self.events)
        self.workflow = _workflow(records, run)

    def headline(self) -> dict[str, Any]:
        """What the run is, at what it is, and since when."""
        run, events, workflow = self.run, self.events, self.workflow
        full = self.level == FULL
        head: dict[str, Any] = {
            "id": run.id,
            "skill": skill_of(run),
            "workflow": run.workflow,
            "status": run.status,
            "status_line": status_line(run) if full else run.status,
            "step": run.step,
            "number": workflow.number(run.step) if workflow and run.step and workflow.has(run.step) else None,
            "steps": len(workflow.steps) if workflow else 0,
            "turn": run.turn,
            "iteration": run.iteration if run.step else None,
            "about": about(run) if full else "",
            "parent": run.parent,
            "opened": iso(events[0].at) if events else None,
            "opened_at": events[0].at if events else None,
            "moved": iso(events[-1].at) if events else None,
            "moved_at": events[-1].at if events else None,
            "seconds": events[-1].at - events[0].at if events and run.ended else None,
            "question": _question(run) if self.level != HIDDEN else None,
            "params": dict(run.params) if full else {},
            "spec": {name: run.spec[name] for name in _SPEC if run.parent and run.spec.get(name)} if full else {},
            "not_done": [undone(entry) for entry in left_undone(run, self.records)] if full else [],
            "errata": dict(run.errata) if full else {},
            "trail": self.history.trail(run.status) if self.level != HIDDEN else "",
        }
        return head if self.level != HIDDEN else {**head, "step": None, "number": None, "turn": None, "iteration": None}

    def visits(self, first: int = 0, last: int | None = None) -> list[dict[str, Any]]:
        """The visits of a range of their numbers, from 0, as this reader may see them."""
        if self.level == HIDDEN:
            return []
        made = [told.visit(one, self.workflow) for one in self.history.visits[first:last]]
        return made if self.level == FULL else [_summed_up(one) for one in made]

    def beside(self) -> list[dict[str, Any]]:
        """The events while the run was at no step."""
        return [told.event_of(event) for event in self.history.beside] if self.level == FULL else []

    def graph(self) -> edges.Graph | None:
        """The graph with the way that was taken; None if there is none to see."""
        if self.workflow is None or len(self.workflow.steps) < 2 or self.level == HIDDEN:
            return None
        return edges.of_workflow(self.workflow, self.events)

    def turns(self) -> dict[str, int]:
        """The turn at which each step was entered last."""
        return {visit.step: visit.entered.turn for visit in self.history.visits}

    def notes(self) -> dict[str, str]:
        """Of each step that was entered how often, and how long the run was there altogether."""
        entries: dict[str, int] = {}
        seconds: dict[str, float] = {}
        for visit in self.history.visits:
            entries[visit.step] = entries.get(visit.step, 0) + 1
            took = visit.left.at - visit.entered.at if visit.left else 0.0
            seconds[visit.step] = seconds.get(visit.step, 0.0) + max(0.0, took)
        here = None if self.run.ended else self.run.step
        return {step: _note(entries[step], seconds[step], step == here) for step in entries}

    def reviews(self) -> list[dict[str, Any]]:
        """Each checkpoint with its rounds, and its items through them; a summary has their verdicts alone."""
        if self.level == HIDDEN:
            return []
        found = [_review(name, done) for name, done in findings.rounds(self.events).items()]
        return found if self.level == FULL else [_verdicts(one) for one in found]


def task(run: Run) -> str:
    """What a sub-agent is, and what it was sent out for."""
    parts = [one_line(run.spec[name]) for name in ("agent", "checkpoint", "target") if run.spec.get(name)]
    return " · ".join(shortened(part, TARGET) for part in parts)


def _question(run: Run) -> dict[str, Any] | None:
    if run.status != "waiting" or not run.question:
        return None
    return {"text": str(run.question["text"]), "choices": list(run.question["choices"])}


def _workflow(records: Records, run: Run) -> Workflow | None:
    """The graph as it was when the run last took it up; None if the run never began."""
    if not run.fingerprint:
        return None
    try:
        return Workflow.restored(records.ledger.definition(run.fingerprint), _function)
    except SkillError:  # written by another version of Lockstep
        return None


def _function(_: str) -> Handler:
    """A stand-in for each function of a workflow that is only drawn."""
    return lambda context: Outcome.OK


def _summed_up(visit: Mapping[str, Any]) -> dict[str, Any]:
    """A visit without what was recorded, printed and proved in detail: that it was, and how it ended."""
    events = [{**one, "name": one["kind"], **_bare(one)} for one in visit["events"]]
    report = visit["report"] and _bare(visit["report"])
    return {**visit, "events": events, "report": report}


def _bare(report: Mapping[str, Any]) -> dict[str, Any]:
    facts = [one for one in report["facts"] if one["name"] in ("question", "answer", "given by")]
    shown = ("kind", "ok", "exit")
    evidence = [
        {name: one[name] if name in shown else () if name == "notes" else "" for name in one}
        for one in report["evidence"]
    ]
    return {"facts": facts, "evidence": evidence}


def _review(checkpoint: str, done: Sequence[findings.Round]) -> dict[str, Any]:
    return {
        "checkpoint": checkpoint,
        "rounds": [
            {
                "iteration": one.iteration,
                "turn": one.turn,
                "status": one.status,
                "decision": {**one.decision, "by_words": findings.who(one.decision)} if one.decision else None,
                "fell": [{"turn": turn, "files": list(files)} for turn, files in one.fell],
            }
            for one in done
        ],
        "items": [_item(item, done) for item in findings.histories(done)],
    }


def _item(history: findings.ItemHistory, done: Sequence[findings.Round]) -> dict[str, Any]:
    item = history.item
    entries: list[dict[str, Any] | None] = []
    for entry, one in zip(history.entries, done, strict=True):
        answers = [answer.text for answer in one.answers.get(entry["id"], ())] if entry else []
        found = str((entry or {}).get("finding") or "")
        entries.append({"status": entry["status"], "finding": found, "answers": answers} if entry else None)
    return {
        "key": history.key,
        "severity": str(item["severity"]),
        "check": item["check"],
        "scope": str(item.get("scope") or ""),
        "entries": entries,
        "end": history.end,
        "settled": history.settled,
    }


def _verdicts(review: Mapping[str, Any]) -> dict[str, Any]:
    """A review without the texts of its findings."""
    rounds = [{**one, "decision": None, "fell": []} for one in review["rounds"]]
    items = [
        {
            **item,
            "check": "",
            "scope": "",
            "entries": [one and {**one, "finding": "", "answers": []} for one in item["entries"]],
            "end": "passed" if item["settled"] else "open",
        }
        for item in review["items"]
    ]
    return {**review, "rounds": rounds, "items": items}


def _note(entries: int, seconds: float, is_here: bool) -> str:
    often = f"{entries}\N{MULTIPLICATION SIGN} \N{MIDDLE DOT} " if entries > 1 else ""
    if is_here:
        return f"{often}\N{BLACK RIGHT-POINTING SMALL TRIANGLE} here now"
    return often + span(seconds)
