"""What the answer of a person does to a run."""

from __future__ import annotations

from skills.lib.engine import quality, reports, verdicts
from skills.lib.engine.decision import Decision, Move, Refused, check_outcome
from skills.lib.engine.questions import ABANDON, ACCEPT, REVISE, ask
from skills.lib.engine.transition import go
from skills.lib.model import values
from skills.lib.model.run import Request, Run
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.types import Outcome, Person, Severity
from skills.lib.reasons import is_reason

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.engine.proof import Proof


def answer(workflow: Workflow, run: Run, step: StepDef, request: Request, actor: str, proof: Proof) -> Decision:
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
        return _settle(workflow, run, step, request, state, detail, proof)
    handler = step.handler
    outcome = handler.choices.get(given, Outcome.OK) if isinstance(handler, Person) else Outcome.OK
    check_outcome(step, request, outcome)
    if actor != "person":
        from skills.lib.engine import not_done

        run = not_done.noted(run, "answer", step.id, f"answered by the agent for a person: {given}")
    contents: dict[str, dict[str, str]] = {}
    if outcome is not Outcome.FAIL:
        run, contents = _heard(workflow, run, step, outcome, detail, proof)
    run = verdicts.asked_about(run, step, proof)
    move = go(workflow, run, step, request, outcome, state, {"outcome": outcome, **detail}, proof, answered=True)
    return move.keeping(contents)


def _heard(
    workflow: Workflow, run: Run, step: StepDef, outcome: Outcome, detail: dict[str, Any], proof: Proof
) -> tuple[Run, dict[str, dict[str, str]]]:
    """The run with the reviews marked that failed or fell, and that a person knew of when they let these files go on.

    The agent's word for a person does not do if a MUST is open, or if a verdict fell. An answer that leads back to a
    review lets nothing go on.
    """
    contents: dict[str, dict[str, str]] = {}
    for checkpoint, review in run.reviews.items():
        fell = verdicts.fell_to(review, step)
        grave = fell or any(item["severity"] == Severity.MUST for item in quality.blocking_now(review))
        if not (fell or verdicts.failed(review)) or (detail["by"] != "person" and grave):
            continue
        if verdicts.leads_to_review(workflow, step, outcome, checkpoint):
            continue
        heard = {"step": step.id, **detail}
        if review.get("content"):
            now = proof.contents(review["covers"])
            heard["content"] = proof.digest(now)
            contents[heard["content"]] = now
        run = run.changed(reviews={**run.reviews, checkpoint: {**review, "heard": heard}})
    return run, contents


def _settle(
    workflow: Workflow,
    run: Run,
    step: StepDef,
    request: Request,
    state: dict[str, Any],
    detail: dict[str, Any],
    proof: Proof,
) -> Decision:
    """A person accepts what is open, with a reason that is kept, sends the work back once more, or ends the run."""
    asked = run.question or {}
    name, about, choice = asked["gate"], asked.get("about", "bound"), request.answer
    reason = (request.reason or "").strip()
    if choice in (ACCEPT, ABANDON) and not is_reason(reason):
        what = "Accepting what is open" if choice == ACCEPT else "Abandoning the run"
        raise Refused("no-reason", f"{what} takes a reason, in more than a word: --reason.", (ACCEPT, REVISE, ABANDON))
    if choice == ABANDON:
        last = {**run.last, "reason": reason}
        ended = run.changed(status="abandoned", turn=run.turn + 1, last=last, question=None)
        return Move(ended, "abandoned", {"from": run.step, "reason": reason, "children": [], **detail})
    if about == "limit":
        outcome = Outcome.OK if choice == ACCEPT else Outcome.FAIL
        check_outcome(step, request, outcome)
        if choice == ACCEPT:
            from skills.lib.engine import not_done

            run = not_done.noted(run, "verdict", step.id, f"a person went on although {step.id} failed: {reason}")
        settled = {"outcome": outcome, **detail}
        return go(workflow, run, step, request, outcome, state, settled, proof, answered=True)
    review = {**run.reviews[name], "decision": detail}
    run = run.changed(reviews={**run.reviews, name: review})
    if about == "dispute":
        return _settle_dispute(workflow, run, step, request, state, detail, proof)
    if about == "change":
        return _settle_change(workflow, run, step, request, state, detail, proof)
    outcome = Outcome.OK if choice == ACCEPT else Outcome.FAIL
    check_outcome(step, request, outcome)
    if choice == ACCEPT:
        run = verdicts.pass_on(run, name, accepted=detail)
    else:
        run = verdicts.send_back(run, name, (step.route(Outcome.FAIL) or (None,))[0])
    return go(workflow, run, step, request, outcome, state, {"outcome": outcome, **detail}, proof)


def _settle_dispute(
    workflow: Workflow,
    run: Run,
    step: StepDef,
    request: Request,
    state: dict[str, Any],
    detail: dict[str, Any],
    proof: Proof,
) -> Decision:
    """Go on to the review without the findings that a person accepted, or back to the work that must fix them."""
    from skills.lib.engine import rework

    asked = run.question or {}
    checkpoint, ids = asked["gate"], asked["ids"]
    outcome = Outcome(asked["outcome"])
    settled = {"outcome": outcome, **detail}
    if request.answer == ACCEPT:
        run = rework.accepted(run, checkpoint, ids, request.reason or "")
        if step.asks_later:
            from skills.lib.engine import leaving

            ways = step.next.values()
            answered = leaving.answer_findings(workflow, run, step, request, ways, state, detail, proof)
            if isinstance(answered, Move):
                return answered
            return ask(answered.changed(state={**run.state, step.id: state}), step, request, detail)
        return go(workflow, run, step, request, outcome, state, settled, proof)
    run = rework.upheld(run, checkpoint, ids)
    work = run.reviews[checkpoint].get("sent_back_to") or step.id
    return go(workflow, run, step, request, outcome, state, settled, proof, to=(work,))


def _settle_change(
    workflow: Workflow,
    run: Run,
    step: StepDef,
    request: Request,
    state: dict[str, Any],
    detail: dict[str, Any],
    proof: Proof,
) -> Decision:
    """Let the verdict stand for the files as they are now, or send the run back to have them reviewed."""
    asked = run.question or {}
    checkpoint, outcome = asked["gate"], Outcome(asked["outcome"])
    settled = {"outcome": outcome, **detail}
    if request.answer == ACCEPT:
        from skills.lib.engine import not_done

        run, contents = verdicts.stands(run, checkpoint, detail, proof)
        what = f"files that the review of {checkpoint} covers were changed since; a person let it stand"
        run = not_done.noted(run, "verdict", step.id, f"{what}: {request.reason or 'no reason given'}")
        return go(workflow, run, step, request, outcome, state, settled, proof).keeping(contents)
    gate = verdicts.gate_of(workflow, checkpoint)
    to = (gate.stale,) if gate and gate.stale else step.route(Outcome.FAIL) or (step.id,)
    run = verdicts.fall(run, checkpoint, verdicts.changed(run, checkpoint, proof), to[0] or step.id, proof)
    return go(workflow, run, step, request, outcome, state, settled, proof, to=to)
