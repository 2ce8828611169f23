"""How a run goes on: it leaves a step by an outcome, and enters the next one or ends.

Modules that only some runs need are imported where they are used: each costs a step 0.1 ms.
"""

from __future__ import annotations

from skills.lib.compact_json import digest
from skills.lib.engine.decision import Detour, Leaving, Move, Refused
from skills.lib.errors import HandlerError
from skills.lib.model.types import Dispatch, Outcome, Person

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.engine.proof import Proof
    from skills.lib.model.run import Run
    from skills.lib.model.steps import StepDef, Workflow


def go(
    leaving: Leaving, run: Run, outcome: Outcome, detail: dict[str, Any], to: tuple[str | None] | None = None
) -> Move:
    """Leave the step by that outcome; ``to`` is a target other than the outcome's own."""
    workflow, step = leaving.workflow, leaving.step
    route = to or step.route(outcome)
    if route is None:
        raise HandlerError(f"{workflow.name}: step {step.id} ended with {outcome}, and has no route for it")
    target = route[0]
    left = run.changed(state={**run.state, step.id: leaving.state})
    if run.reviews:
        from skills.lib.engine import gates

        settled = gates.settle(leaving, left, outcome, target, detail)
        if isinstance(settled, (Move, Detour)):
            return follow(leaving, settled, outcome)
        left = settled
    check_target(step, leaving.report.target, outcome, route, detail.get("limit"))
    last = {**leaving.last(run, leaving.state), "outcome": outcome}
    if "limit" in detail:
        last["limit"] = detail["limit"]
    if target == step.id and detail.get("evidence"):
        last["proved"] = proved_by(detail["evidence"])
    left = left.changed(last=last, children=[], question=None)
    detail = {"from": step.id, "to": target, **detail}
    if target is None:
        return _end(workflow, left, outcome, detail)
    left = left.changed(turn=run.turn + 1)
    return enter(workflow, left, target, "moved", detail, leaving.proof, leaving.answered)


def follow(leaving: Leaving, instead: Move | Detour, outcome: Outcome) -> Move:
    """What a run does instead of leaving the step as it ended: the move itself, or the one that takes the detour."""
    if isinstance(instead, Move):
        return instead
    return go(leaving, instead.run, outcome, instead.detail, to=(instead.to,))


def check_target(
    step: StepDef, target: str, outcome: Outcome, route: tuple[str | None] | None, limit: int | None = None
) -> None:
    """Refuse a requested step to which the outcome does not lead."""
    wanted = None if target == "done" else target
    if route is None or wanted == "next" or wanted == route[0]:
        return
    spent = f" for want of iterations (its limit is {limit})" if limit else ""
    ways = f"which leads to {route[0] or 'the end'}, not to {wanted or 'the end'}"
    why = f"{step.id} ended with {outcome}{spent}, {ways}."
    raise Refused("wrong-outcome", why, (route[0] or "done",), of="steps", wrong=("step",))


def _end(workflow: Workflow, run: Run, outcome: Outcome, detail: dict[str, Any]) -> Move:
    """End the run: failed if its outcome says so, or if nobody accepted a review that failed; else done."""
    from skills.lib.engine import not_done, verdicts

    failed = workflow.ends_failed(outcome, bool(run.parent)) or not verdicts.may_end_done(run)
    ended = not_done.at_end(workflow, run).changed(status="failed" if failed else "done", step=None, turn=run.turn + 1)
    return Move(ended, "finished", detail)


def enter(
    workflow: Workflow,
    run: Run,
    step_id: str,
    kind: str,
    detail: dict[str, Any],
    proof: Proof | None,
    answered: bool = False,
) -> Move:
    """The move of ``kind`` into a step; ``answered`` says that a person's answer led there."""
    step = workflow.step(step_id)
    visits = {**run.visits, step_id: run.visits.get(step_id, 0) + 1}
    rounds = run.rounds
    if any(step.max_iterations for step in workflow.steps):
        from skills.lib.engine import loops  # few workflows have one

        rounds = loops.counted(workflow, run, step_id, answered)
    entered = run.changed(step=step_id, visits=visits, rounds=rounds, status="open")
    if isinstance(step.handler, Person) and not step.asks_later:
        from skills.lib.engine import gates

        return Move(entered.changed(status="waiting", question=gates.question(run, step)), kind, detail)
    if isinstance(step.handler, Dispatch):
        from skills.lib.engine import dispatch

        return dispatch.enter(workflow, entered, step, kind, detail, proof)
    return Move(entered, kind, detail)


def proved_by(evidence: Sequence[Mapping[str, Any]]) -> str:
    """A digest of what a step's checks showed; empty if it has none."""
    return digest([dict(result) for result in evidence]) if evidence else ""
