"""What must be settled before a run leaves a step for a review, or for its end."""

from __future__ import annotations

from skills.lib.engine import questions, rework, verdicts
from skills.lib.engine.decision import Detour, Move
from skills.lib.model.run import Request, Run
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from skills.lib.engine.proof import Proof

# How many changed files are named in the record.
NAMED = 20


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
) -> Run | Move | Detour:
    """The run as it may go on to ``target``, or where it goes instead.

    Before a review, its findings are answered, unless it was a person who ``answered``. Before the end, no verdict has
    fallen with the files that it is about.
    """
    if target is None:
        found = verdicts.first_fallen(run, proof) if outcome is not Outcome.FAIL else None
        if found is None:
            return run
        return fall(workflow, run, step, request, outcome, *found, state, detail, proof)
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
        if rework.decides(step, checkpoint):
            continue
        settled, undecided = rework.settle(run, step, checkpoint, proof)
        if undecided:
            return questions.ask_about_disputes(run, step, request, checkpoint, undecided, state, detail)
        run = settled
    return run


def fall(
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
) -> Move | Detour:
    """Go to where a fallen verdict leads; once it has fallen as often as its gate allows, a person decides.

    So they do if it fell with the same files already, and they were not reviewed since: their review was skipped, or it
    led to a question whose answer was not their own.
    """
    gate = verdicts.gate_of(workflow, checkpoint)
    detail = {**detail, "outcome": outcome, "stale": {"checkpoint": checkpoint, "files": files[:NAMED]}}
    returns = run.reviews[checkpoint].get("returns", 0)
    spent = gate is None or returns >= gate.bound or verdicts.was_told(run, checkpoint, proof)
    if gate is None or gate.stale is None or spent:
        return questions.ask_about_change(run, step, request, checkpoint, files, state, detail)
    fallen = verdicts.fall(run, checkpoint, files, gate.stale, proof)
    return Detour(fallen, gate.stale, detail)
