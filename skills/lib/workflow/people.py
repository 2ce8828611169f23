"""Questions to people: one that a step puts, one at the bound of a review, and what an answer does."""

from __future__ import annotations

from skills.lib.workflow import quality, reports, values
from skills.lib.workflow.context import present
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.decision import Decision, Move, Refused
from skills.lib.workflow.engine import check_outcome, go, last_of, passed, sent_back
from skills.lib.workflow.requirements import Field, fill
from skills.lib.workflow.state import Request, Run
from skills.lib.workflow.types import Gate, Outcome, Person

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# How many open findings the question at a review's bound names; the rest is counted.
TOLD = 10


def question(run: Run, step: StepDef) -> dict[str, Any]:
    """What a person is asked at a step, with what was recorded for it put in."""
    asked = step.handler
    assert isinstance(asked, Person)
    optional = {f"{step.id}.{spec.name}": "" for spec in step.requires if isinstance(spec, Field)}
    known = {**optional, **run.params, **run.recorded}
    shown = {name: present(value) if isinstance(value, list) else value for name, value in known.items()}
    text = fill(asked.question, shown)
    return {"text": text, "choices": list(asked.choices), "at_terminal": asked.at_terminal}


def ask(run: Run, step: StepDef, request: Request, detail: dict[str, Any]) -> Move:
    """Put the question of a step whose requirements are met, and wait."""
    last = last_of(run, request, step, run.state[step.id])
    asked = run.changed(status="waiting", question=question(run, step), turn=run.turn + 1, last=last)
    return Move(asked, "asked", {"from": step.id, "to": step.id, **detail})


def ask_about_gate(run: Run, step: StepDef, gate: Gate, request: Request, detail: dict[str, Any]) -> Move:
    """Put the findings that are open at a gate's bound to a person, and wait."""
    review = run.reviews[gate.checkpoint]
    open_items = quality.blocking(review["items"], review["iteration"])
    told = [f"{item['id']} ({item['severity']}): {item['finding']:.200}" for item in open_items[:TOLD]]
    if len(open_items) > TOLD:
        told.append(f"and {len(open_items) - TOLD} more, which lockstep trace {run.id} --values shows")
    findings = "; ".join(told)
    text = f"{gate.checkpoint} was reviewed {review['iteration']} times and these findings are open: {findings}"
    put = {"text": text, "choices": ["accept", "revise"], "at_terminal": True, "gate": gate.checkpoint}
    last = {**last_of(run, request, step, {}), "outcome": detail["outcome"]}
    asked = run.changed(status="waiting", question=put, turn=run.turn + 1, last=last)
    return Move(asked, "asked", {"from": run.step, "to": run.step, **detail})


def answer(workflow: Workflow, run: Run, step: StepDef, request: Request, actor: str) -> Decision:
    """What an answer, or a command that gives none, does to a run that waits."""
    asked = run.question or {}
    choices = tuple(asked.get("choices", ()))
    given = request.answer
    if asked.get("at_terminal") and actor != "person":
        why = "A person answers this at a terminal; an answer that is passed on for them does not count."
        raise Refused("person-needed", why, choices)
    if given is None:
        raise Refused("unanswered", f"The run waits for a person: {asked.get('text', '')}", choices)
    if not given.strip() or values.is_placeholder(given, "answer"):
        raise Refused("unfilled", "--answer holds no answer yet.", choices)
    if request.reason and values.is_placeholder(request.reason, "reason"):
        raise Refused("unfilled", "--reason still stands as a placeholder; say why.", choices)
    if choices and given not in choices:
        raise Refused("bad-value", f"{given!r:.80} is not one of the answers.", choices)
    for name in (*request.records, *reports.beyond_run(workflow, run, request)):
        raise Refused("unknown-field", f"{step.id} waits for an answer; nothing is recorded with it: {name!r:.80}.")
    reports.check_echo(run, step, request)
    state = {**run.state.get(step.id, {}), "answer": given, "answered_by": actor}
    state.pop("reason", None)  # what was said to an earlier answer
    if request.reason:
        state["reason"] = request.reason
    detail = {"answer": given, "by": "person" if actor == "person" else "reported", "reason": request.reason or ""}
    if "gate" in asked:
        return _settle_gate(workflow, run, step, request, state, detail)
    handler = step.handler
    outcome = handler.choices.get(given, Outcome.OK) if isinstance(handler, Person) else Outcome.OK
    check_outcome(step, request, outcome)
    return go(workflow, run, step, request, outcome, state, {"outcome": outcome, **detail})


def _settle_gate(
    workflow: Workflow, run: Run, step: StepDef, request: Request, state: dict[str, Any], detail: dict[str, Any]
) -> Decision:
    """A person accepts what is open, with a reason that is kept, or sends the work back once more."""
    if request.answer == "accept" and not (request.reason or "").strip():
        raise Refused("no-reason", "Accepting open findings takes a reason: --reason.", ("accept", "revise"))
    checkpoint = (run.question or {})["gate"]
    outcome = Outcome.OK if request.answer == "accept" else Outcome.FAIL
    check_outcome(step, request, outcome)
    review = {**run.reviews[checkpoint], "decision": detail}
    settled = run.changed(reviews={**run.reviews, checkpoint: review})
    settled = sent_back(settled, checkpoint, step) if outcome is Outcome.FAIL else passed(settled, checkpoint)
    return go(workflow, settled, step, request, outcome, state, {"outcome": outcome, **detail})
