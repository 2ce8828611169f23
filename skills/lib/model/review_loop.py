"""The construct that builds a whole review loop, so that no author can forget a part of it."""

from __future__ import annotations

from skills.lib.model.steps import StepDef
from skills.lib.model.texts import AT_GATE
from skills.lib.model.types import BOUND, AgentRole, Dispatch, Gate, Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def review_loop(
    checkpoint: str,
    *,
    work: str,
    passed: str | None,
    reviewer: Dispatch | None = None,
    title: str = "",
    actions: Sequence[str] | str = (),
    needs: Sequence[str] = (),
    forbidden: Sequence[str] = (),
    gate_actions: Sequence[str] | str = (),
    gate_needs: Sequence[str] = (),
    bound: int = BOUND,
    stale: str | None = None,
    skipped: str = "",
) -> tuple[StepDef, StepDef]:
    """Build the review step and the gate of a checkpoint: fail leads back to ``work``, pass on to ``passed``.

    ``reviewer`` says how the review is done (default: one free-form quality reviewer); its checkpoint is set here.
    ``actions``, ``needs`` and ``forbidden`` are the review step's, ``gate_actions`` and ``gate_needs`` the gate's.
    ``stale`` is where a verdict leads that fell with the files which the reviewer covers (default: the review step),
    ``skipped`` where the review leads if its reviewer has no target.
    """
    base = reviewer or Dispatch(
        AgentRole.QUALITY_REVIEWER, task=f"Review {checkpoint} against the checks of this step, item by item."
    )
    fields = {**base.fields(), "checkpoint": checkpoint}
    agent = fields.pop("agent")
    label = title or checkpoint.replace("-", " ").capitalize()
    review = StepDef(
        f"{checkpoint}-review",
        f"Review: {label}",
        actions or [f"Have {label.lower()} reviewed by the sub-agents below. Do not review it yourself."],
        {Outcome.OK: f"{checkpoint}-gate", **({Outcome.SKIP: skipped} if skipped else {})},
        Dispatch(agent, **fields),  # type: ignore[arg-type]
        needs=needs,
        forbidden=forbidden,
    )
    gate = StepDef(
        f"{checkpoint}-gate",
        f"Gate: {label}",
        gate_actions or [AT_GATE],
        {Outcome.OK: passed, Outcome.FAIL: work},
        Gate(checkpoint, bound, (stale or review.id) if base.covers else None),
        needs=gate_needs,
        when={
            Outcome.OK: "when no finding that blocks at this iteration is open",
            Outcome.FAIL: "when a blocking finding is open: it goes back to be fixed and is reviewed again",
        },
    )
    return review, gate
