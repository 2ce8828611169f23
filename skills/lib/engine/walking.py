"""Steps that a run walks through without a command of their own, because no agent and no person has anything to say.

These are gates, whose verdict is in the ledger, steps with sub-agents that start none, and automatic steps. The moves
are the same as by one command each; they belong to the request that led to the first of these steps.
"""

from __future__ import annotations

from skills.lib.engine import inputs
from skills.lib.engine.decision import Move, Refused
from skills.lib.engine.engine import leave
from skills.lib.errors import LockstepError
from skills.lib.model.run import Request
from skills.lib.model.texts import AT_GATE
from skills.lib.model.types import Dispatch, Gate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from skills.lib.engine.proof import Proof
    from skills.lib.model.steps import StepDef, Workflow


def onward(workflow: Workflow, first: Move, proof: Proof, check: Callable[[], object]) -> list[Move]:
    """The moves that follow a move in the same transaction; none if the run then is at a step with something to do.

    ``check`` raises LockstepError if the record of the run may not decide a gate; it is called before the first one.
    What is refused, or fails, is left to a command of its own: the run stays before it. No step is left twice. An
    opening, which has left no step, has the digest "".
    """
    if first.kind not in ("moved", "opened"):
        return []
    found: list[Move] = []
    move, left, is_checked = first, [_entry(first)] if first.kind == "moved" else [], False
    request = {"turn": first.run.last.get("turn", first.run.turn), "digest": first.run.last.get("digest", "")}
    while _is_walked(workflow, move) and all(one["step"] != move.run.step for one in left):
        run, step = move.run, workflow.step(move.run.step or "")
        try:
            if step.gate and not is_checked:
                check()
                is_checked = True
            run, report = inputs.read(workflow, run, step, Request("next"), request["digest"])
            after = leave(workflow, run, step, report, proof)
        except (Refused, LockstepError):
            break
        if after.kind != "asked":
            left.append(_entry(after))
        walked = after.run.changed(last={**after.run.last, **request, "left": list(left)})
        move = Move(walked, after.kind, after.detail, after.create, after.end, after.contents)
        found.append(move)
    return found


def _is_walked(workflow: Workflow, move: Move) -> bool:
    """True if a move led to a step where nobody has anything to do, to report or to answer."""
    run = move.run
    if run.status != "open":
        return False
    step = workflow.step(run.step or "")
    if not (step.automatic or _says_nothing(workflow, step, move)):
        return False
    if run.reviews:
        from skills.lib.engine import fixes  # few runs have reviews

        return not fixes.asks(workflow, run, step)
    return True


def _says_nothing(workflow: Workflow, step: StepDef, move: Move) -> bool:
    """True if a step is a gate without anything to do or to report, or starts no sub-agent."""
    if step.requires or workflow.step_params(step.id):
        return False
    if isinstance(step.handler, Gate):
        return tuple(step.actions) in ((), (AT_GATE,)) and not step.repeat
    return isinstance(step.handler, Dispatch) and not move.create


def _entry(move: Move) -> dict[str, Any]:
    """What is kept of a step that a move left."""
    last, detail = move.run.last, move.detail
    found = {"step": last["step"], "outcome": str(last.get("outcome", ""))}
    if "limit" in last:
        found["limit"] = last["limit"]
    return {**found, "stale": True} if "stale" in detail else found
