"""The transition function: a workflow, a run and a request in, a decision out; nothing is read or written here.

What must be looked up outside (files, commands, child runs) comes through ``Proof``. A refusal changes nothing.
"""

from __future__ import annotations

import sys

from skills.lib import compact_json
from skills.lib.compact_json import digest
from skills.lib.errors import HandlerError, UsageError
from skills.lib.workflow import children, quality, reports, values
from skills.lib.workflow.context import present
from skills.lib.workflow.core import StepContext, StepDef, Workflow
from skills.lib.workflow.decision import Decision, Move, Refusal, Refused, Repeat
from skills.lib.workflow.requirements import Field, fill
from skills.lib.workflow.state import Request, Run
from skills.lib.workflow.texts import check_tree
from skills.lib.workflow.types import Dispatch, Gate, Outcome, Person, QRStatus, is_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Protocol

    from skills.lib.workflow.requirements import Artifact, Command

    class Proof(Protocol):
        """What the engine asks of the world; each answer is evidence."""

        def children(self) -> list[Run]:
            """The present step's child runs, replaced ones included, in order."""

        def check(self, requirement: Artifact | Command, fields: Mapping[str, Any]) -> dict[str, Any]:
            """Look at a file or run a command: ``{"ok": …, "what": …, "why": …}``."""


# How many open findings the question at a review's bound names; the rest is counted.
TOLD = 10


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
            return _account(run, request, proof)
        step = workflow.step(run.step or "")
        _check_target_possible(workflow, step, request)
        if run.status == "waiting":
            return _answer(workflow, run, step, request, actor)
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
        raise Refused("no-turn", "Without --turn a command can only show the present step, and it asked for another.")
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
    known = target is None or workflow.has(target)
    lead = f"step {wanted}" if known and target else ("the end" if known else f"{wanted}, which is no step of it,")
    raise Refused("skipped-step", f"From {step.id} the graph has no way to {lead}.", ways)


def _leave(workflow: Workflow, run: Run, step: StepDef, request: Request, proof: Proof) -> Decision:
    if request.answer is not None:
        raise Refused("no-question", f"Step {step.id} asks nobody anything, so there is nothing to answer.")
    params = reports.step_params(workflow, run, step, request)
    recorded = reports.records(run, step, request)
    reports.check_echo(run, step, request)
    found: dict[str, Any] = {}
    reviews = run.reviews
    if isinstance(step.handler, Dispatch):
        found, reviews = _collect(run, step, proof)
    if step.asks_later and request.outcome is not None:
        raise Refused("wrong-outcome", f"A person says how {step.id} ends: leave --outcome out.", ())
    evidence = _prove(run, step, {**run.params, **params, **recorded}, proof)

    state = {**run.state.get(step.id, {}), **recorded, **params, **found}
    if step.asks_later:
        # What the question shows was recorded for it: a field left out now says nothing of what it once was.
        left_out = {spec.name for spec in step.requires if isinstance(spec, Field)} - set(recorded)
        state = {name: value for name, value in state.items() if name not in left_out}
        detail = {"recorded": values.keepable({**recorded, **params}), "evidence": list(evidence)}
        return _ask(run.changed(state={**run.state, step.id: values.keepable(state)}), step, request, detail)
    reviewed = run.changed(reviews=reviews)
    outcome, extra = _outcome(workflow, reviewed, step, request, state, params)
    detail = {"outcome": outcome, "recorded": values.keepable({**recorded, **params}), "evidence": list(evidence)}
    gate = step.gate
    if gate and outcome is Outcome.FAIL and reviews[gate.checkpoint]["iteration"] >= gate.bound:
        kept = reviewed.changed(state={**run.state, step.id: values.keepable(state)})
        return _ask_about_gate(kept, gate, request, detail)
    if gate and outcome is Outcome.FAIL:
        reviewed = _sent_back(reviewed, gate.checkpoint, step)
    return _go(workflow, reviewed, step, request, outcome, values.keepable({**state, **extra}), detail)


def _sent_back(run: Run, checkpoint: str, step: StepDef) -> Run:
    """Mark the review as the reason to be in the work step, which then shows its blocking findings."""
    work = (step.route(Outcome.FAIL) or (None,))[0]
    return run.changed(reviews={**run.reviews, checkpoint: {**run.reviews[checkpoint], "sent_back_to": work}})


def _collect(run: Run, step: StepDef, proof: Proof) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the children brought, and the reviews with theirs counted; refused while one is unaccounted for."""
    brood = proof.children()
    out = children.missing(brood)
    if out:
        names = ", ".join(child.id for child in out)
        why = (
            f"{step.id} waits for {len(out)} of its sub-agents: {names}. NEXT shows the command of each, and how to "
            "give up on one that never comes back (--lost) or to start another in its place (--replace)."
        )
        raise Refused("unaccounted-child", why, tuple(child.id for child in out))
    found = {"results": children.results(brood)}
    checkpoint = step.checkpoint
    if checkpoint is None or not brood:
        return found, run.reviews
    items = children.reviewed_items(brood)
    iteration = run.reviews.get(checkpoint, {}).get("iteration", 0) + 1
    review = {"iteration": iteration, "items": items, "status": quality.verdict(items, iteration)}
    return found, {**run.reviews, checkpoint: review}


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
        outcome, extra = _judged(workflow, step, _call(workflow, run, step, function, state, params))
    elif isinstance(handler, Dispatch):
        failed = any(entry["status"] == "lost" or entry.get("verdict") == "fail" for entry in state["results"])
        outcome = Outcome.FAIL if failed and Outcome.FAIL in step.next else Outcome.OK
    else:
        outcome = Outcome.OK
    _check_outcome(step, request, outcome)
    if outcome is Outcome.ITERATE and step.max_iterations and run.iteration >= step.max_iterations:
        outcome = step.at_limit
    return outcome, extra


def _check_outcome(step: StepDef, request: Request, outcome: Outcome) -> None:
    if request.outcome is not None and request.outcome != outcome:
        why = f"The outcome of {step.id} is {outcome}, not {request.outcome!r:.60}."
        raise Refused("wrong-outcome", why, (outcome,))


def _call(
    workflow: Workflow,
    run: Run,
    step: StepDef,
    function: Callable[[StepContext], Any],
    state: Mapping[str, Any],
    params: Mapping[str, Any],
) -> Any:
    """What a function of the skill's makes of the run; HandlerError where it raises."""
    # Its own copy: a list that a handler adds to in place must not change what the ledger compares with.
    own = _copy({**run.state, step.id: state})
    given = _copy({**run.params, **params})
    context = StepContext(given, own[step.id], own, step.id, run.iteration, _copy(run.reviews))
    output, sys.stdout = sys.stdout, sys.stderr  # what a handler prints is not part of the document
    try:
        return function(context)
    except (Exception, SystemExit) as error:
        raise HandlerError(
            f"{workflow.name}: the handler of step {step.id} raised {type(error).__name__}: {error}",
            remedy="mend the handler; the run waits",
        ) from error
    finally:
        sys.stdout = output


def _judged(workflow: Workflow, step: StepDef, given: Any) -> tuple[Outcome, dict[str, Any]]:
    """What a handler returned, once it is seen to be an outcome that the step has and values that can be kept."""
    name = f"{workflow.name}: the handler of step {step.id}"
    outcome, extra = given if isinstance(given, tuple) and len(given) == 2 else (given, {})
    declared = step.outcomes or tuple(step.next)
    valid = ", ".join(declared)
    if not isinstance(outcome, Outcome) or not isinstance(extra, dict):
        raise HandlerError(f"{name} returned {given!r:.200}", valid="an Outcome, or a pair of an Outcome and a dict")
    if outcome not in declared and Outcome.DEFAULT not in step.next:
        raise HandlerError(f"{name} returned {outcome}, which is not declared", valid=valid)
    try:
        check_tree(extra, "what it returned", bounded=False)
        compact_json.dumps(extra)
    except (TypeError, ValueError, UsageError) as error:
        raise HandlerError(f"{name} returned values that cannot be kept: {error}") from error
    return outcome, extra


def _computed(workflow: Workflow, step: StepDef, given: Any) -> Any:
    """What a targets function returned, once it is seen to be texts that a block can hold."""
    name = f"{workflow.name}: the targets function of step {step.id}"
    if not isinstance(given, (list, tuple)) or not all(isinstance(one, str) and one.strip() for one in given):
        raise HandlerError(f"{name} returned {given!r:.200}", valid="a list of texts, none of them empty")
    try:
        check_tree(list(given), "what it returned", bounded=False)
    except UsageError as error:
        raise HandlerError(f"{name}: {error.what}", valid=error.valid) from error
    return given


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copy(inner) for name, inner in value.items()}
    return [_copy(inner) for inner in value] if isinstance(value, list) else value


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


def _go(
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
        why = f"{step.id} ended with {outcome}, which leads to {target or 'the end'}, not to {wanted or 'the end'}."
        raise Refused("wrong-outcome", why, (target or "done",))
    last = {"turn": run.turn, "digest": request_digest(request), "step": step.id, "outcome": outcome}
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
        return Move(entered.changed(status="waiting", question=_question(run, step, step.handler)), kind, detail)
    if isinstance(step.handler, Dispatch):
        wanted: Any = step.handler.targets
        if callable(wanted):
            wanted = _computed(workflow, step, _call(workflow, entered, step, wanted, run.state.get(step_id, {}), {}))
        try:
            create = children.specs(entered, step, wanted)
        except ValueError as error:
            raise Refused("bad-targets", f"{error}.") from None
        return Move(entered, kind, detail, tuple(create))
    return Move(entered, kind, detail)


def _question(run: Run, step: StepDef, asked: Person) -> dict[str, Any]:
    optional = {f"{step.id}.{spec.name}": "" for spec in step.requires if isinstance(spec, Field)}
    known = {**optional, **run.params, **run.recorded}
    shown = {name: present(value) if isinstance(value, list) else value for name, value in known.items()}
    text = fill(asked.question, shown)
    return {"text": text, "choices": list(asked.choices), "at_terminal": asked.at_terminal}


def _ask(run: Run, step: StepDef, request: Request, detail: dict[str, Any]) -> Move:
    """Put the question of a step whose requirements are met, and wait."""
    assert isinstance(step.handler, Person)
    last = {"turn": run.turn, "digest": request_digest(request), "step": step.id}
    question = _question(run, step, step.handler)
    asked = run.changed(status="waiting", question=question, turn=run.turn + 1, last=last)
    return Move(asked, "asked", {"from": step.id, "to": step.id, **detail})


def _ask_about_gate(run: Run, gate: Gate, request: Request, detail: dict[str, Any]) -> Move:
    review = run.reviews[gate.checkpoint]
    open_items = quality.blocking(review["items"], review["iteration"])
    told = [f"{item['id']} ({item['severity']}): {item['finding']:.200}" for item in open_items[:TOLD]]
    if len(open_items) > TOLD:
        told.append(f"and {len(open_items) - TOLD} more, which lockstep trace {run.id} --values shows")
    findings = "; ".join(told)
    text = f"{gate.checkpoint} was reviewed {review['iteration']} times and these findings are open: {findings}"
    question = {"text": text, "choices": ["accept", "revise"], "at_terminal": True, "gate": gate.checkpoint}
    last = {"turn": run.turn, "digest": request_digest(request), "step": run.step, "outcome": detail["outcome"]}
    asked = run.changed(status="waiting", question=question, turn=run.turn + 1, last=last)
    return Move(asked, "asked", {"from": run.step, "to": run.step, **detail})


def _answer(workflow: Workflow, run: Run, step: StepDef, request: Request, actor: str) -> Decision:
    question = run.question or {}
    choices = tuple(question.get("choices", ()))
    answer = request.answer
    if question.get("at_terminal") and actor != "person":
        why = "A person answers this at a terminal; an answer that is passed on for them does not count."
        raise Refused("person-needed", why, choices)
    if answer is None:
        raise Refused("unanswered", f"The run waits for a person: {question.get('text', '')}", choices)
    if not answer.strip() or values.is_placeholder(answer, "answer"):
        raise Refused("unfilled", "--answer holds no answer yet.", choices)
    if request.reason and values.is_placeholder(request.reason, "reason"):
        raise Refused("unfilled", "--reason still stands as a placeholder; say why.", choices)
    if choices and answer not in choices:
        raise Refused("bad-value", f"{answer!r:.80} is not one of the answers.", choices)
    for name in (*request.records, *reports.beyond_run(workflow, run, request)):
        raise Refused("unknown-field", f"{step.id} waits for an answer; nothing is recorded with it: {name!r:.80}.")
    reports.check_echo(run, step, request)
    state = {**run.state.get(step.id, {}), "answer": answer, "answered_by": actor}
    state.pop("reason", None)  # what was said to an earlier answer
    if request.reason:
        state["reason"] = request.reason
    detail = {"answer": answer, "by": "person" if actor == "person" else "reported", "reason": request.reason or ""}
    if "gate" in question:
        return _settle_gate(workflow, run, step, request, state, detail)
    handler = step.handler
    outcome = handler.choices.get(answer, Outcome.OK) if isinstance(handler, Person) else Outcome.OK
    _check_outcome(step, request, outcome)
    return _go(workflow, run, step, request, outcome, state, {"outcome": outcome, **detail})


def _settle_gate(
    workflow: Workflow, run: Run, step: StepDef, request: Request, state: dict[str, Any], detail: dict[str, Any]
) -> Decision:
    """A person accepts what is open, with a reason that is kept, or sends the work back once more."""
    if request.answer == "accept" and not (request.reason or "").strip():
        raise Refused("no-reason", "Accepting open findings takes a reason: --reason.", ("accept", "revise"))
    checkpoint = (run.question or {})["gate"]
    outcome = Outcome.OK if request.answer == "accept" else Outcome.FAIL
    _check_outcome(step, request, outcome)
    review = {**run.reviews[checkpoint], "decision": detail}
    settled = run.changed(reviews={**run.reviews, checkpoint: review})
    if outcome is Outcome.FAIL:
        settled = _sent_back(settled, checkpoint, step)
    return _go(workflow, settled, step, request, outcome, state, {"outcome": outcome, **detail})


def _account(run: Run, request: Request, proof: Proof) -> Decision:
    """Give up on a child (lost), or start another in its place."""
    child_id = request.lost or request.replace or ""
    brood = {child.id: child for child in proof.children()}
    child = brood.get(child_id)
    if child is None:
        raise Refused("unknown-child", f"{child_id!r:.80} is not a sub-agent of the present step.", tuple(brood))
    verb = "lost" if request.lost else "replaced"
    if child.status == verb:
        return Repeat()
    if child.ended:
        raise Refused(
            "child-ended", f"{child_id} is {child.status} already.", tuple(c.id for c in brood.values() if not c.ended)
        )
    reason = (request.reason or "").strip()
    if request.lost and (not reason or values.is_placeholder(reason, "reason")):
        raise Refused("no-reason", f"Say why {child_id} is given up: --reason.")
    create = () if request.lost else (child.spec,)
    return Move(run, f"child-{verb}", {"child": child_id, "reason": reason}, create, ((child_id, verb),))
