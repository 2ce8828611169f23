"""How a run goes on: it leaves a step by an outcome, and enters the next one or ends."""

from __future__ import annotations

from skills.lib.compact_json import digest
from skills.lib.engine.decision import Detour, Move, Refused, last_of
from skills.lib.errors import HandlerError
from skills.lib.model.run import Request, Run
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.types import Dispatch, Outcome, Person

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.engine.proof import Proof


def go(
    workflow: Workflow,
    run: Run,
    step: StepDef,
    request: Request,
    outcome: Outcome,
    state: dict[str, Any],
    detail: dict[str, Any],
    proof: Proof,
    to: tuple[str | None] | None = None,
    answered: bool = False,
) -> Move:
    """Leave the step by that outcome, or to a target that is not the outcome's own; ``answered`` by a person."""
    route = to or step.route(outcome)
    if route is None:
        raise HandlerError(f"{workflow.name}: step {step.id} ended with {outcome}, and has no route for it")
    target = route[0]
    left = run.changed(state={**run.state, step.id: state})
    if run.reviews:
        from skills.lib.engine import leaving

        put = leaving.before_leaving(workflow, left, step, request, outcome, target, state, detail, proof, answered)
        if isinstance(put, (Move, Detour)):
            return follow(put, workflow, step, request, outcome, state, proof)
        left = put
    check_target(step, request, outcome, route, detail.get("limit"))
    last = {**last_of(run, request, step, state), "outcome": outcome}
    if "limit" in detail:
        last["limit"] = detail["limit"]
    if target == step.id and detail.get("evidence"):
        last["proved"] = proved_by(detail["evidence"])
    left = left.changed(last=last, children=[], question=None)
    detail = {"from": step.id, "to": target, **detail}
    if target is None:
        return _end(workflow, left, outcome, detail)
    return enter(workflow, left.changed(turn=run.turn + 1), target, "moved", detail, proof, answered)


def follow(
    put: Move | Detour,
    workflow: Workflow,
    step: StepDef,
    request: Request,
    outcome: Outcome,
    state: dict[str, Any],
    proof: Proof,
) -> Move:
    """What a run does instead of leaving the step as it ended: the move itself, or the one that takes the detour."""
    if isinstance(put, Move):
        return put
    return go(workflow, put.run, step, request, outcome, state, put.detail, proof, to=(put.to,))


def check_target(
    step: StepDef, request: Request, outcome: Outcome, route: tuple[str | None] | None, limit: int | None = None
) -> None:
    """Refuse a request for a step to which the outcome does not lead."""
    wanted = None if request.step == "done" else request.step
    if route is None or wanted == "next" or wanted == route[0]:
        return
    spent = f" for want of iterations (its limit is {limit})" if limit else ""
    ways = f"which leads to {route[0] or 'the end'}, not to {wanted or 'the end'}"
    raise Refused("wrong-outcome", f"{step.id} ended with {outcome}{spent}, {ways}.", (route[0] or "done",))


def _end(workflow: Workflow, run: Run, outcome: Outcome, detail: dict[str, Any]) -> Move:
    """The end: done, or failed if a FAIL led there or a failed review was accepted by nobody."""
    from skills.lib.engine import not_done

    failed = outcome is Outcome.FAIL
    if run.reviews and not failed:
        from skills.lib.engine import verdicts

        failed = not verdicts.may_end_done(run)
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
    step = workflow.step(step_id)
    visits = {**run.visits, step_id: run.visits.get(step_id, 0) + 1}
    rounds = run.rounds
    if any(other.max_iterations for other in workflow.steps):
        from skills.lib.engine import loops

        rounds = loops.counted(workflow, run, step_id, answered)
    entered = run.changed(step=step_id, visits=visits, rounds=rounds, status="open")
    if isinstance(step.handler, Person) and not step.asks_later:
        from skills.lib.engine import questions

        return Move(entered.changed(status="waiting", question=questions.question(run, step)), kind, detail)
    if isinstance(step.handler, Dispatch):
        from skills.lib.engine import dispatch

        return dispatch.enter(workflow, entered, step, kind, detail, proof)
    return Move(entered, kind, detail)


def proved_by(evidence: Sequence[Mapping[str, Any]]) -> str:
    """Identifies what a step's checks showed; empty if it has none."""
    return digest([dict(result) for result in evidence]) if evidence else ""
