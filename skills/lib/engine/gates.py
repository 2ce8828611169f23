"""What reviews demand before a run leaves a step.

At a gate there must be a verdict, before a review each finding must be answered, and at the end the files must be as
they were reviewed.
"""

from __future__ import annotations

from skills.lib.engine import fixes, questions, verdicts
from skills.lib.engine.decision import Detour, Leaving, Move, Refused
from skills.lib.model.types import Gate, Outcome, QRStatus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from skills.lib.model.run import Run

# How many changed files are named in the record.
NAMED = 20


def verdict(run: Run, gate: Gate) -> Outcome:
    """OK or FAIL as the ledger has it. Raises Refused if there is no verdict, or it has passed a gate already."""
    review = run.reviews.get(gate.checkpoint)
    if not review:
        raise Refused("not-reviewed", f"Nobody has reviewed {gate.checkpoint} in this run.")
    if review.get("passed"):
        why = f"The verdict on {gate.checkpoint} let this run through a gate already: it serves once."
        raise Refused("spent-verdict", why)
    return Outcome.OK if review["status"] == QRStatus.PASS else Outcome.FAIL


def apply_verdict(
    leaving: Leaving, run: Run, gate: Gate, outcome: Outcome, detail: dict[str, Any]
) -> Run | Move | Detour:
    """The run as the outcome of its gate leaves it, or what it does instead.

    At the gate's bound a person is asked. If files were changed since the review, the run goes where ``_fall`` says.
    """
    checkpoint = gate.checkpoint
    if outcome is Outcome.OK:
        files = verdicts.changed(run, checkpoint, leaving.proof)
        if files:
            return _fall(leaving, run, outcome, checkpoint, files, detail)
        return verdicts.pass_on(run, checkpoint)
    if outcome is not Outcome.FAIL:  # a review without a target was skipped
        return run
    if run.reviews[checkpoint]["iteration"] >= gate.bound:
        return questions.ask_at_bound(leaving, run, gate, detail)
    return verdicts.send_back(run, checkpoint, (leaving.step.route(Outcome.FAIL) or (None,))[0])


def settle(
    leaving: Leaving, run: Run, outcome: Outcome, target: str | None, detail: dict[str, Any]
) -> Run | Move | Detour:
    """The run as it may go on to ``target``, or where it goes instead.

    Before a review, its findings must be answered, unless a person has just decided. Before the end, no verdict may
    have fallen with its files.
    """
    if target is None:
        fallen = verdicts.first_fallen(run, leaving.proof) if outcome is not Outcome.FAIL else None
        return _fall(leaving, run, outcome, *fallen, detail) if fallen else run
    return run if leaving.answered else answer_findings(leaving, run, (target,), {**detail, "outcome": outcome})


def answer_findings(leaving: Leaving, run: Run, targets: Iterable[str | None], detail: dict[str, Any]) -> Run | Move:
    """The run with the findings answered of each review that one of the targets leads to, or the question about them.

    A step that asks a person at once changes nothing, so the step before it answers for the review behind it.
    """
    ahead = verdicts.reviews_ahead(leaving.workflow, targets)
    for checkpoint in dict.fromkeys(review.checkpoint or "" for review in ahead):
        review = run.reviews.get(checkpoint, {})
        if not review or not verdicts.failed(review) or review.get("settled"):
            continue
        if fixes.decides(leaving.step, checkpoint):
            continue
        settled, undecided = fixes.settle(run, leaving.step, checkpoint, leaving.proof)
        if undecided:
            return questions.ask_about_disputes(leaving, run, checkpoint, undecided, detail)
        run = settled
    return run


def _fall(
    leaving: Leaving, run: Run, outcome: Outcome, checkpoint: str, files: list[str], detail: dict[str, Any]
) -> Move | Detour:
    """Go to where a fallen verdict leads, or ask a person if it has fallen as often as its gate allows.

    A person is also asked if it fell with the same files before and they were not reviewed since: their review was
    skipped, or it led to a question that somebody else answered.
    """
    gate = verdicts.gate_of(leaving.workflow, checkpoint)
    detail = {**detail, "outcome": outcome, "stale": {"checkpoint": checkpoint, "files": files[:NAMED]}}
    returns = run.reviews[checkpoint].get("returns", 0)
    spent = gate is None or returns >= gate.bound or verdicts.was_raised(run, checkpoint, leaving.proof)
    if gate is None or gate.stale is None or spent:
        return questions.ask_about_change(leaving, run, checkpoint, files, detail)
    return Detour(verdicts.fall(run, checkpoint, files, gate.stale, leaving.proof), gate.stale, detail)
