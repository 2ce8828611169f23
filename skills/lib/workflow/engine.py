"""The transition function: a workflow, a run and a request in, a decision out; nothing is read or written here.

What must be looked up outside (files, commands, child runs) comes through ``Proof``. A refusal changes nothing.
"""

from __future__ import annotations

from skills.lib.compact_json import digest
from skills.lib.errors import HandlerError
from skills.lib.workflow import reports, values
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.decision import Decision, Move, Refusal, Refused, Repeat
from skills.lib.workflow.requirements import Field
from skills.lib.workflow.state import Request, Run
from skills.lib.workflow.types import Dispatch, Outcome, Person, QRStatus, is_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from skills.lib.workflow.requirements import Artifact, Command

    class Proof(Protocol):
        """What the engine asks of the world; each answer is evidence."""

        def children(self) -> list[Run]:
            """The present step's child runs, replaced ones included, in order."""

        def check(self, requirement: Artifact | Command, fields: Mapping[str, Any]) -> dict[str, Any]:
            """Look at a file or run a command: ``{"ok": …, "what": …, "why": …}``."""


def open_run(workflow: Workflow, run: Run, given: Mapping[str, Any]) -> Refusal | Move:
    """Put a new (or pending child) run on the first step with its parameters, or refuse and say what is missing."""
    try:
        params = reports.parameters(workflow.run_params(), given)
        kept = values.keepable(params)
        fresh = run.changed(workflow=workflow.name, fingerprint=workflow.fingerprint, params=kept, status="open")
        return _enter(workflow, fresh, workflow.start, "opened", {"params": kept})
    except Refused as refused:
        return refused.refusal


def decide(workflow: Workflow, run: Run, request: Request, proof: Proof, actor: str = "agent") -> Decision:
    """What the request does to the run. Raises HandlerError where the skill is at fault; the run is untouched."""
    try:
        if not _is_due(run, request):
            return Repeat()
        if request.lost or request.replace:
            from skills.lib.workflow import children

            return children.account(run, request, proof.children())
        step = workflow.step(run.step or "")
        _check_target_possible(workflow, step, request)
        if run.status == "waiting":
            from skills.lib.workflow import people

            return people.answer(workflow, run, step, request, actor)
        return _leave(workflow, run, step, request, proof)
    except Refused as refused:
        return refused.refusal


def request_digest(request: Request) -> str:
    """Identifies a request: the same digest is the very same command; values of secret names are left out."""
    return digest(
        [
            request.step,
            request.turn,
            values.keepable(dict(request.params)),
            values.keepable(dict(request.records)),
            request.outcome,
            request.answer,
            request.lost,
            request.replace,
            request.reason,
            request.qr_status,
            request.qr_iteration,
            request.qr_fail,
        ]
    )


def _is_due(run: Run, request: Request) -> bool:
    """Whether the request is about the present turn; False for a repeat of the last one, else refused."""
    last = run.last
    if request.turn is not None and request.turn == last.get("turn") and request_digest(request) == last.get("digest"):
        return False
    if run.ended:
        raise Refused("run-ended", f"This run is {run.status}: nothing moves it any more.")
    if request.turn is None:
        shows = request.step in ("current", run.step)
        more = "this one reports something" if shows else "this one asks for another"
        raise Refused("no-turn", f"Without --turn a command can only show the present step, and {more}.")
    if request.turn != run.turn:
        kind = "already been taken" if request.turn < run.turn else "not come yet"
        raise Refused("wrong-turn", f"Turn {request.turn} has {kind}: the run is at turn {run.turn}.")
    return True


def targets(step: StepDef) -> dict[str | None, list[Outcome]]:
    """Where the step can lead, with the outcomes that lead there; the end is None."""
    ways: dict[str | None, list[Outcome]] = {}
    for outcome, target in step.next.items():
        ways.setdefault(target, []).append(outcome)
    return ways


def _check_target_possible(workflow: Workflow, step: StepDef, request: Request) -> None:
    wanted = request.step
    if wanted == "next":
        return
    target = None if wanted == "done" else wanted
    if target in step.next.values():
        return
    ways = tuple(target or "done" for target in targets(step))
    if wanted == "current":
        why = f"--step current only shows {step.id}; what it reports is given with the step that it leads to."
        raise Refused("skipped-step", why, ways)
    known = target is None or workflow.has(target)
    lead = f"step {wanted}" if known and target else ("the end" if known else f"{wanted}, which is no step of it")
    raise Refused("skipped-step", f"From {step.id} the graph has no way to {lead}.", ways)


def _leave(workflow: Workflow, run: Run, step: StepDef, request: Request, proof: Proof) -> Decision:
    if request.answer is not None:
        raise Refused("no-question", f"Step {step.id} asks nobody anything, so there is nothing to answer.")
    params = reports.step_params(workflow, run, step, request)
    recorded = reports.records(workflow, run, step, request)
    reports.check_echo(run, step, request)
    found: dict[str, Any] = {}
    reviews = run.reviews
    if isinstance(step.handler, Dispatch):
        from skills.lib.workflow import children

        found, reviews = children.collect(run, step, proof.children())
    if step.asks_later and request.outcome is not None:
        raise Refused("wrong-outcome", f"A person says how {step.id} ends: leave --outcome out.", ())
    evidence = _prove(run, step, {**run.params, **params, **recorded}, proof)

    # A field left out now says nothing of what it once was.
    left_out = {spec.name for spec in step.requires if isinstance(spec, Field)} - set(recorded)
    before = {name: value for name, value in run.state.get(step.id, {}).items() if name not in left_out}
    state = {**before, **recorded, **params, **found}
    detail: dict[str, Any] = {"recorded": values.keepable({**recorded, **params}), "evidence": list(evidence)}
    if step.asks_later:
        from skills.lib.workflow import people

        return people.ask(run.changed(state={**run.state, step.id: values.keepable(state)}), step, request, detail)
    reviewed = run.changed(reviews=reviews)
    outcome, extra = _outcome(workflow, reviewed, step, request, state, params)
    limit = step.max_iterations if outcome is Outcome.ITERATE else None
    if limit and run.iteration >= limit:
        detail["limit"] = limit
        outcome = step.at_limit
    detail["outcome"] = outcome
    gate = step.gate
    if gate and outcome is Outcome.FAIL and reviews[gate.checkpoint]["iteration"] >= gate.bound:
        kept = reviewed.changed(state={**run.state, step.id: values.keepable(state)})
        from skills.lib.workflow import people

        return people.ask_about_gate(kept, step, gate, request, detail)
    if gate and outcome is Outcome.FAIL:
        reviewed = sent_back(reviewed, gate.checkpoint, step)
    elif gate and outcome is Outcome.OK:
        reviewed = passed(reviewed, gate.checkpoint)
    return go(workflow, reviewed, step, request, outcome, values.keepable({**state, **extra}), detail)


def sent_back(run: Run, checkpoint: str, step: StepDef) -> Run:
    """Mark the review as the reason to be in the work step, which then shows its blocking findings."""
    work = (step.route(Outcome.FAIL) or (None,))[0]
    return run.changed(reviews={**run.reviews, checkpoint: {**run.reviews[checkpoint], "sent_back_to": work}})


def passed(run: Run, checkpoint: str) -> Run:
    """Mark the review as one that its gate let through: the next of this checkpoint begins anew."""
    return run.changed(reviews={**run.reviews, checkpoint: {**run.reviews[checkpoint], "passed": True}})


def _prove(run: Run, step: StepDef, fields: Mapping[str, Any], proof: Proof) -> tuple[dict[str, Any], ...]:
    evidence: tuple[dict[str, Any], ...] = ()
    for requirement in step.requires:
        if isinstance(requirement, Field):
            continue
        result = proof.check(requirement, {**run.recorded, **fields})
        evidence += (result,)
        if not result["ok"]:
            raise Refused("missing-evidence", str(result["why"]), (), evidence)
    return evidence


def _outcome(
    workflow: Workflow, run: Run, step: StepDef, request: Request, state: dict[str, Any], params: dict[str, Any]
) -> tuple[Outcome, dict[str, Any]]:
    handler, function, gate = step.handler, step.function, step.gate
    extra: dict[str, Any] = {}
    if handler is None and not gate:
        outcome = _reported(step, request)
    elif isinstance(handler, Dispatch) and not state["results"]:
        outcome = Outcome.SKIP
    elif gate:
        review = run.reviews.get(gate.checkpoint)
        if not review:
            raise Refused("not-reviewed", f"Nobody has reviewed {gate.checkpoint} in this run.")
        outcome = Outcome.OK if review["status"] == QRStatus.PASS else Outcome.FAIL
    elif function:
        from skills.lib.workflow import calling

        outcome, extra = calling.judge(workflow, run, step, function, state, params)
    elif isinstance(handler, Dispatch):
        failed = any(entry["status"] == "lost" or entry.get("verdict") == "fail" for entry in state["results"])
        outcome = Outcome.FAIL if failed and Outcome.FAIL in step.next else Outcome.OK
    else:
        outcome = Outcome.OK
    check_outcome(step, request, outcome)
    return outcome, extra


def check_outcome(step: StepDef, request: Request, outcome: Outcome) -> None:
    if request.outcome is not None and request.outcome != outcome:
        why = f"The outcome of {step.id} is {outcome}, not {request.outcome!r:.60}."
        raise Refused("wrong-outcome", why, (outcome,))


def _reported(step: StepDef, request: Request) -> Outcome:
    """The outcome of a step without a handler: the only one, or the one reported, or the one the target implies."""
    valid = tuple(outcome.value for outcome in step.next)
    if request.outcome is not None:
        if values.is_placeholder(request.outcome, "outcome"):
            raise Refused("unfilled", "--outcome still stands as a placeholder; say how the step ended.", valid)
        if not is_word(Outcome, request.outcome) or step.route(Outcome(request.outcome)) is None:
            raise Refused("wrong-outcome", f"Step {step.id} has no outcome {request.outcome!r:.60}.", valid)
        return Outcome(request.outcome)
    if len(step.next) == 1:
        return next(iter(step.next))
    if request.step != "next":
        ways = targets(step)[None if request.step == "done" else request.step]
        if len(ways) == 1:
            return ways[0]
    raise Refused("missing-outcome", f"Step {step.id} can end in {len(valid)} ways: say which with --outcome.", valid)


def last_of(run: Run, request: Request, step: StepDef, state: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of the request that leads on; of a reviewer also the last step that recorded items."""
    last = {"turn": run.turn, "digest": request_digest(request), "step": step.id}
    if "checkpoint" in run.spec:
        last["judged"] = step.id if "items" in state else run.last.get("judged", "")
    return last


def go(
    workflow: Workflow,
    run: Run,
    step: StepDef,
    request: Request,
    outcome: Outcome,
    state: dict[str, Any],
    detail: dict[str, Any],
) -> Move:
    route = step.route(outcome)
    if route is None:
        raise HandlerError(f"{workflow.name}: step {step.id} ended with {outcome}, and has no route for it")
    target = route[0]
    wanted = None if request.step == "done" else request.step
    if wanted != "next" and wanted != target:
        spent = f" for want of iterations (its limit is {detail['limit']})" if "limit" in detail else ""
        ways = f"which leads to {target or 'the end'}, not to {wanted or 'the end'}"
        raise Refused("wrong-outcome", f"{step.id} ended with {outcome}{spent}, {ways}.", (target or "done",))
    last = {**last_of(run, request, step, state), "outcome": outcome}
    if "limit" in detail:
        last["limit"] = detail["limit"]
    left = run.changed(state={**run.state, step.id: state}, last=last, children=[], question=None)
    detail = {"from": step.id, "to": target, **detail}
    if target is None:
        ended = left.changed(status="done", step=None, turn=run.turn + 1)
        return Move(ended, "finished", detail)
    return _enter(workflow, left.changed(turn=run.turn + 1), target, "moved", detail)


def _enter(workflow: Workflow, run: Run, step_id: str, kind: str, detail: dict[str, Any]) -> Move:
    step = workflow.step(step_id)
    visits = {**run.visits, step_id: run.visits.get(step_id, 0) + 1}
    entered = run.changed(step=step_id, visits=visits, status="open")
    if isinstance(step.handler, Person) and not step.asks_later:
        from skills.lib.workflow import people

        return Move(entered.changed(status="waiting", question=people.question(run, step)), kind, detail)
    if isinstance(step.handler, Dispatch):
        from skills.lib.workflow import children

        wanted: Any = step.handler.targets
        if callable(wanted):
            from skills.lib.workflow import calling

            wanted = calling.targets(workflow, entered, step, wanted)
        try:
            create = children.specs(workflow, entered, step, wanted)
        except ValueError as error:
            raise Refused("bad-targets", f"{error}.") from None
        return Move(entered, kind, detail, tuple(create))
    return Move(entered, kind, detail)
