"""Reads the record of a project's runs and lists each step that a run left without what the step demands.

The rules are written down here once more, apart from the engine, and read from the events alone.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from skills.lib.engine.decision import is_person
from skills.lib.ledger import Ledger, verification
from skills.lib.runtime import loading
from skills.lib.workflow.requirements import Field
from skills.lib.workflow.types import Dispatch, Gate, Outcome, Person

if TYPE_CHECKING:
    from skills.lib.ledger.history import Event
    from skills.lib.model.run import Run
    from skills.lib.workflow.core import StepDef, Workflow

ACCEPTED, REVISED = "accept", "revise"


def gaps(home: str) -> list[str]:
    """Every gap in the runs of the ledger in that folder, as a sentence; none is what is hoped for."""
    ledger = Ledger(home, create=False)
    try:
        verification.verify(ledger)
        runs = {run.id: run for run in ledger.every_run()}
        events = ledger.events()
    finally:
        ledger.close()
    found = []
    for run in runs.values():
        own = [event for event in events if event.run == run.id]
        found += _history_gaps(run, own)
        if run.parent and not run.spec.get("script"):
            found += _free_form_gaps(run, own)
        elif run.status not in ("pending", "lost", "replaced"):
            children = [child for child in runs.values() if child.parent == run.id]
            found += _gaps(run, loading.workflow_of_script(run.script), own, children, events)
    return found


def _history_gaps(run: Run, events: list[Event]) -> list[str]:
    """What no run of any graph may show: a turn that was come to twice, a graph that changed on the way.

    Nobody but a deviating agent edits a graph here.
    """
    turns = Counter(event.turn for event in events if event.kind in ("opened", "moved", "finished"))
    found = [f"{run.id} came to turn {turn} {count} times" for turn, count in turns.items() if count > 1]
    edited = [event.turn for event in events if event.kind == "definition-changed"]
    return found + [f"{run.id} went on with an edited graph at turn {turn}" for turn in edited]


def _free_form_gaps(run: Run, events: list[Event]) -> list[str]:
    wanted = "items" if "checkpoint" in run.spec else "result"
    ends = [event for event in events if event.kind == "finished"]
    return [f"{run.id} ended without {wanted}" for event in ends if not event.detail["recorded"].get(wanted)]


def _gaps(run: Run, workflow: Workflow, own: list[Event], children: list[Run], events: list[Event]) -> list[str]:
    found, at, since = [], workflow.start, 0
    reviews: dict[str, Any] = {}
    asked: Event | None = None
    for event in own:
        reviews = event.change.get("reviews", reviews)
        asked = event if event.kind == "asked" else asked
        if event.kind not in ("moved", "finished"):
            continue
        detail = event.detail
        where = f"{run.id} left {at or 'its end'} at turn {event.turn - 1}"
        if detail["from"] != at or at is None:
            found.append(f"{where}: recorded as {detail['from']}")
            at, since = detail["to"], event.seq - 1
            continue
        step = workflow.step(at)
        sent_back = is_person(event.actor) and detail.get("answer") == REVISED and detail["to"] in _works(workflow)
        ways = [target for outcome, target in step.next.items() if outcome == detail["outcome"]]
        if detail["to"] not in ways and not sent_back:
            found.append(f"{where}: by {detail['outcome']} to {detail['to']}, which the graph does not have")
        # What a step reported before a person was asked about its findings stands with the question.
        report = asked if asked is not None and "recorded" not in detail else event
        found += [f"{where}: {gap}" for gap in _step_gaps(step, event, report, reviews)]
        if isinstance(step.handler, Dispatch):
            made = [child for child in children if since < _created(child, events) < event.seq]
            found += [f"{where}: {gap}" for gap in _child_gaps(step, made, reviews)]
        at, since = detail["to"], event.seq - 1
    if run.status == "done" and at is not None:
        found.append(f"{run.id} is done at {at}")
    return found


def _works(workflow: Workflow) -> set[str | None]:
    """The steps that failed reviews go back to."""
    return {step.next.get(Outcome.FAIL) for step in workflow.steps if isinstance(step.handler, Gate)}


def _step_gaps(step: StepDef, event: Event, report: Event, reviews: dict[str, Any]) -> list[str]:
    detail = report.detail
    if isinstance(step.handler, Person):
        return _answer_gaps(step.handler, event)
    if isinstance(step.handler, Gate):
        return _gate_gaps(step.handler, event, reviews)
    fields = [spec.name for spec in step.requires if isinstance(spec, Field) and spec.required]
    looked_at = len([spec for spec in step.requires if not isinstance(spec, Field)])
    found = [f"{name} was not recorded" for name in fields if detail["recorded"].get(name) in (None, "")]
    if [proof["ok"] for proof in detail["evidence"]] != [True] * looked_at:
        found.append(f"{looked_at} proofs were due, and there are {detail['evidence']}")
    return found


def _answer_gaps(asked: Person, event: Event) -> list[str]:
    found = []
    if asked.choices.get(event.detail["answer"]) != event.detail["outcome"]:
        found.append(f"the answer {event.detail['answer']} does not lead to {event.detail['outcome']}")
    if asked.at_terminal and not is_person(event.actor):
        found.append(f"{event.actor} answered for the person")
    return found


def _gate_gaps(gate: Gate, event: Event, reviews: dict[str, Any]) -> list[str]:
    review = reviews.get(gate.checkpoint)
    if not review:
        return ["nobody had reviewed it"]
    blocks = ("MUST", "SHOULD") if review["level"] <= 3 else ("MUST",)
    still = [
        item["id"]
        for item in review["items"]
        if item["status"] != "PASS" and item["severity"] in blocks and not item.get("accepted")
    ]
    passed = event.detail["outcome"] == "ok"
    decided = event.detail.get("answer") == ACCEPTED and is_person(event.actor) and bool(event.detail.get("reason"))
    if passed and still and not decided:
        return [f"it passed with {', '.join(still)} open"]
    if passed and not review["items"]:
        return ["it passed without a single item"]
    return [] if passed or still else ["it did not pass, and nothing was open"]


def _child_gaps(step: StepDef, children: list[Run], reviews: dict[str, Any]) -> list[str]:
    found = [f"sub-agent {child.id} was {child.status}" for child in children if not child.ended]
    if not children:
        found.append("no sub-agent was started")
    if step.checkpoint:
        # An id that another reviewer gave before has a number behind it in the record.
        kept = {(item["owner"], item["id"], item["status"]) for item in reviews[step.checkpoint]["items"]}
        kept |= {(owner, name.partition(".")[0], status) for owner, name, status in kept}
        reported = {
            (child.spec["number"], item["id"], item["status"])
            for child in children
            if child.status == "done"
            for item in child.state["task"]["items"]
        }
        if not reported <= kept:
            found.append(f"the record lacks what reviewers reported: {sorted(reported - kept)}")
    return found


def _created(child: Run, events: list[Event]) -> int:
    return next(event.seq for event in events if event.run == child.id and event.kind == "created")
