"""What a gate does with its checkpoint's verdict."""

from __future__ import annotations

from skills.lib.engine import leaving, questions, verdicts
from skills.lib.engine.decision import Move, Refused
from skills.lib.engine.transition import follow, go
from skills.lib.model.run import Request, Run
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.types import Gate, Outcome, QRStatus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.engine.proof import Proof


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
            put = leaving.fall(workflow, run, step, request, outcome, checkpoint, files, state, detail, proof)
            return follow(put, workflow, step, request, outcome, state, proof)
        run = verdicts.pass_on(run, checkpoint)
    elif outcome is Outcome.FAIL:
        if run.reviews[checkpoint]["iteration"] >= gate.bound:
            return questions.ask_at_bound(run, step, gate, request, state, detail)
        run = verdicts.send_back(run, checkpoint, (step.route(Outcome.FAIL) or (None,))[0])
    return go(workflow, run, step, request, outcome, state, detail, proof)
