"""What a block says of the steps that its run was led through without a command of their own."""

from __future__ import annotations

from skills.lib.engine import verdicts
from skills.lib.model.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from skills.lib.model.run import Run
    from skills.lib.model.steps import Workflow


def through(workflow: Workflow, run: Run) -> str:
    """A sentence for each step that the last request walked through, a gate with its verdict; each after a blank."""
    left = run.last["left"][1:] if run.last.get("digest") else run.last["left"]  # an opening left no step of its own
    return "".join([f" {_sentence(workflow, run, one)}" for one in left if workflow.has(one["step"])])


def _sentence(workflow: Workflow, run: Run, left: Mapping[str, Any]) -> str:
    step, outcome = workflow.step(left["step"]), left.get("outcome")
    if step.automatic:
        return f"Step {step.id} was done by the engine."
    if outcome == Outcome.SKIP:
        return f"{step.id} was skipped: it had nothing to hand out."
    words = f"Gate {step.id} {'passed' if outcome == Outcome.OK else 'failed'}."
    if left.get("stale"):
        words = f"Gate {step.id} was not passed: files changed since the review."
    review = run.reviews.get(step.gate.checkpoint) if step.gate else None
    if step.gate is None or review is None:
        return words
    return f"{words} {verdicts.banner(step.gate.checkpoint, review, step.gate.bound, judged=True)}"
