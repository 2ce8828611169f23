"""What a gate does with its checkpoint's verdict, and what must be settled before a run goes on to a review or ends."""

from __future__ import annotations

from skills.lib.workflow import verdicts
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.decision import Move, Refused
from skills.lib.workflow.engine import go
from skills.lib.workflow.state import Request, Run
from skills.lib.workflow.types import Gate, Outcome, QRStatus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from skills.lib.workflow.engine import Proof

# How many changed files are named in the record.
NAMED = 20


def verdict(run: Run, gate: Gate) -> Outcome:
    """OK or FAIL as the ledger has it; refused if there is no verdict, or it has let the run through once already."""
    review = run.reviews.get(gate.checkpoint)
    if not review:
        raise Refused("not-reviewed", f"Nobody has reviewed {gate.checkpoint} in this run.")
    if review.get("passed"):
        why = f"The verdict on {gate.checkpoint} let this run through a gate already: it serves once."
        raise Refused("spent-verdict", why)
    return Outcome.OK if review["status"] == QRStatus.PASS else Outcome.FAIL


def decide(
    workflow: Workflow,
    run: Run,
    step: StepDef,
    request: Request,
    outcome: Outcome,
    state: dict[str, Any],
    detail: dict[str, Any],
    proof: Proof,
) -> Move:
    """Go on, or back to the work, or to where a verdict leads that fell with its files; at the bound ask a person."""
    gate = step.gate
    assert gate is not None
    checkpoint = gate.checkpoint
    detail = {**detail, "outcome": outcome}
    if outcome is Outcome.OK:
        files = verdicts.changed(run, checkpoint, proof)
        if files:
            return _fall(workflow, run, step, request, outcome, checkpoint, files, state, detail, proof)
        run = verdicts.pass_on(run, checkpoint)
    elif outcome is Outcome.FAIL:
        if run.reviews[checkpoint]["iteration"] >= gate.bound:
            from skills.lib.workflow import people

            return people.ask_at_bound(run, step, gate, request, state, detail)
        run = verdicts.send_back(run, checkpoint, (step.route(Outcome.FAIL) or (None,))[0])
    return go(workflow, run, step, request, outcome, state, detail, proof)


def before_leaving(
    workflow: Workflow,
    run: Run,
    step: StepDef,
    request: Request,
    outcome: Outcome,
    target: str | None,
    state: dict[str, Any],
    detail: dict[str, Any],
    proof: Proof,
    answered: bool = False,
) -> Run | Move:
    """The run as it may go on to ``target``, or where it goes instead.

    Before a review, its findings are answered, unless it was a person who ``answered``. Before the end, no verdict has
    fallen with the files that it is about.
    """
    if target is None:
        found = verdicts.first_fallen(run, proof) if outcome is not Outcome.FAIL else None
        if found is None:
            return run
        return _fall(workflow, run, step, request, outcome, *found, state, detail, proof)
    if answered:
        return run
    return answer_findings(workflow, run, step, request, (target,), state, {**detail, "outcome": outcome}, proof)


def answer_findings(
    workflow: Workflow,
    run: Run,
    step: StepDef,
    request: Request,
    targets: Iterable[str | None],
    state: dict[str, Any],
    detail: dict[str, Any],
    proof: Proof,
) -> Run | Move:
    """The run with the findings answered of each review that one of the targets leads to, or the question about them.

    A step that asks a person at once changes nothing, so what leads to it answers for the review behind it.
    """
    for checkpoint in dict.fromkeys(review.checkpoint for review in verdicts.reviews_ahead(workflow, targets)):
        assert checkpoint is not None
        review = run.reviews.get(checkpoint)
        if not review or not verdicts.failed(review) or review.get("settled"):
            continue
        from skills.lib.workflow import rework

        if rework.decides(step, checkpoint):
            continue
        settled, undecided = rework.settle(run, step, checkpoint, proof)
        if undecided:
            from skills.lib.workflow import people

            return people.ask_about_disputes(run, step, request, checkpoint, undecided, state, detail)
        run = settled
    return run


def _fall(
    workflow: Workflow,
    run: Run,
    step: StepDef,
    request: Request,
    outcome: Outcome,
    checkpoint: str,
    files: list[str],
    state: dict[str, Any],
    detail: dict[str, Any],
    proof: Proof,
) -> Move:
    """Go to where a fallen verdict leads; once it has fallen as often as its gate allows, a person decides.

    So they do if it fell with the same files already, and they were not reviewed since: their review was skipped, or it
    led to a question whose answer was not their own.
    """
    gate = verdicts.gate_of(workflow, checkpoint)
    detail = {**detail, "outcome": outcome, "stale": {"checkpoint": checkpoint, "files": files[:NAMED]}}
    returns = run.reviews[checkpoint].get("returns", 0)
    spent = gate is None or returns >= gate.bound or verdicts.was_told(run, checkpoint, proof)
    if gate is None or gate.stale is None or spent:
        from skills.lib.workflow import people

        return people.ask_about_change(run, step, request, checkpoint, files, state, detail)
    fallen = verdicts.fall(run, checkpoint, files, gate.stale, proof)
    return go(workflow, fallen, step, request, outcome, state, detail, proof, to=(gate.stale,))
