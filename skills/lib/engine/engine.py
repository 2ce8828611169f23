"""The transition function: a workflow, a run and a request in, a decision out; nothing is read or written here.

What must be looked up outside (files, commands, child runs) comes through ``Proof``. A refusal changes nothing.
Modules that only some steps need are imported where they are used: each costs a step 0.1 ms.
"""

from __future__ import annotations

from skills.lib.engine import inputs
from skills.lib.engine.decision import PROMPTED, Leaving, Move, Refused, Report, is_person
from skills.lib.engine.transition import check_target, enter, follow, go
from skills.lib.model import values
from skills.lib.model.requirements import Artifact, Command, Field, fill
from skills.lib.model.run import Request, Run
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.types import Dispatch, Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from skills.lib.engine.proof import Proof


def open_run(workflow: Workflow, run: Run, given: Mapping[str, Any], proof: Proof | None = None) -> Move:
    """Put a new (or pending child) run on its first step with its parameters. Raises Refused if they do not fit.

    A reviewer that verifies items again begins at the workflow's ``reverify``.
    """
    params = inputs.parameters(workflow.run_params(), given)
    kept = values.keepable(params)
    fresh = run.changed(workflow=workflow.name, fingerprint=workflow.fingerprint, params=kept, status="open")
    again = bool(run.spec.get("items")) and workflow.reverify
    return enter(workflow, fresh, again or workflow.start, "opened", {"params": kept}, proof)


def decide(workflow: Workflow, run: Run, request: Request, proof: Proof, actor: str = "agent") -> Move | None:
    """What the request does to the run; None if it repeats the last one, so that nothing changes.

    Raises Refused, and HandlerError if the skill is at fault; the run is untouched then.
    """
    digest = inputs.request_digest(request)
    if not _is_due(run, request.turn, request.step, digest):
        return None
    child = request.lost or request.replace
    if child:
        from skills.lib.engine import children

        return children.account(run, "lost" if request.lost else "replaced", child, request.reason, proof.children())
    step = workflow.step(run.step or "")
    inputs.check_target_possible(workflow, step, request.step)
    if run.status == "waiting":
        from skills.lib.engine import people

        prompt = "" if is_person(actor) else people.prompt_with(run, request.answer, proof)
        actor = PROMPTED if prompt else actor
        report = people.read_answer(workflow, run, step, request, digest, actor)
        return people.answer(workflow, run, step, report, actor, proof, prompt)
    try:
        run, report = inputs.read(workflow, run, step, request, digest)
    except Refused as refused:
        if refused.code == "missing-evidence":
            refused.why = " ".join([refused.why, *_missing_files(step, {**run.recorded, **request.records}, proof)])
        raise
    return leave(workflow, run, step, report, proof)


def _is_due(run: Run, turn: int | None, step: str, digest: str) -> bool:
    """True if the request is about the present turn, False if it repeats the last one. Raises Refused for others."""
    if turn is not None and (turn, digest) == (run.last.get("turn"), run.last.get("digest")):
        return False
    if run.ended:
        raise Refused("run-ended", f"This run is {run.status}: nothing moves it any more.")
    if turn is None:
        more = "this one reports something" if step in ("current", run.step) else "this one asks for another"
        raise Refused(
            "no-turn", f"Without --turn a command can only show the present step, and {more}.", wrong=("turn",)
        )
    if turn != run.turn:
        kind = "already been taken" if turn < run.turn else "not come yet"
        raise Refused("wrong-turn", f"Turn {turn} has {kind}: the run is at turn {run.turn}.", wrong=("turn",))
    return True


def leave(workflow: Workflow, run: Run, step: StepDef, report: Report, proof: Proof) -> Move:
    """What a report that was read does to the run: it leaves the step, or asks a person first. Raises as ``decide``."""
    recorded, params = dict(report.recorded), report.params
    found: dict[str, Any] = {}
    if isinstance(step.handler, Dispatch):
        from skills.lib.engine import children

        found, run = children.collect(run, step, proof.children())
    if any(isinstance(spec, Command) for spec in step.requires):
        _check_before_commands(workflow, run, step, report, proof)
    evidence, printed = _prove(run, step, {**run.params, **params, **recorded}, proof)
    recorded.update(printed)
    if "checkpoint" in run.spec:
        from skills.lib.engine import answers

        found.update(answers.judged(workflow, run, step, recorded, evidence, proof))
    # A field that is left out now keeps no earlier value.
    left_out = {spec.name for spec in step.requires if isinstance(spec, Field)} - set(recorded)
    before = {name: value for name, value in run.state.get(step.id, {}).items() if name not in left_out}
    state = {**before, **recorded, **params, **found}
    detail: dict[str, Any] = {"recorded": values.keepable({**recorded, **params}), "evidence": list(evidence)}
    if report.errata:
        detail["errata"] = dict(report.errata)
    if step.asks_later:
        return _ask(Leaving(workflow, step, report, proof, values.keepable(state)), run, detail)
    outcome, extra = _outcome(workflow, run, step, report, state)
    if run.last.get("step") == step.id and recorded:
        from skills.lib.engine import repeats  # few steps lead back to themselves

        repeats.check(run, step, outcome, {**recorded, **params}, evidence)
    leaving = Leaving(workflow, step, report, proof, values.keepable({**state, **extra}))
    return _end_step(leaving, _without_outdated_errata(run, step, leaving.state), outcome, detail)


def _ask(leaving: Leaving, run: Run, detail: dict[str, Any]) -> Move:
    """Put the question of a step whose requirements are met, once the findings ahead of it are answered."""
    from skills.lib.engine import gates  # few steps ask a person later

    settled: Run | Move = run
    if run.reviews:
        settled = gates.answer_findings(leaving, run, leaving.step.next.values(), detail)
    if isinstance(settled, Move):
        return settled
    return gates.ask(leaving, _without_outdated_errata(settled, leaving.step, leaving.state), detail)


def _end_step(leaving: Leaving, run: Run, outcome: Outcome, detail: dict[str, Any]) -> Move:
    """Leave the step by its outcome, unless its gate or its limit says otherwise."""
    step = leaving.step
    if step.gate:
        from skills.lib.engine import gates

        detail = {**detail, "outcome": outcome}
        settled = gates.apply_verdict(leaving, run, step.gate, outcome, detail)
        return go(leaving, settled, outcome, detail) if isinstance(settled, Run) else follow(leaving, settled, outcome)
    limit = step.max_iterations
    if limit and run.iteration >= limit and (outcome in (Outcome.ITERATE, Outcome.FAIL) or outcome.is_own):
        if outcome is not Outcome.ITERATE:
            from skills.lib.engine import gates, loops

            if not loops.leads_back(leaving.workflow, step, outcome):
                return go(leaving, run, outcome, {**detail, "outcome": outcome})
            if not loops.leaves_at_limit(leaving.workflow, step, outcome):
                return gates.ask_at_limit(leaving, run, outcome, detail)
        what = f"{step.id} was to be done once more, and its {limit} iterations were used up"
        run, outcome = run.noted("limit", step.id, what), step.at_limit
        detail = {**detail, "limit": limit}
    return go(leaving, run, outcome, {**detail, "outcome": outcome})


def _check_before_commands(workflow: Workflow, run: Run, step: StepDef, report: Report, proof: Proof) -> None:
    """Refuse what was typed wrong before a command of the step runs, which may take minutes.

    Whether findings are answered is checked afterwards: a command may write the file that a finding names.
    """
    if step.handler is None and not step.max_iterations:
        outcome = Outcome(report.outcome or "")
        check_target(step, report.target, outcome, step.route(outcome))
    if "checkpoint" in run.spec:
        from skills.lib.engine import answers

        passed = [{"ok": True, "what": "", "why": ""} for spec in step.requires if not isinstance(spec, Field)]
        answers.judged(workflow, run, step, report.recorded, passed, proof)


def _prove(
    run: Run, step: StepDef, fields: Mapping[str, Any], proof: Proof
) -> tuple[tuple[dict[str, Any], ...], dict[str, Any]]:
    """What the step's files and commands show, and the values that commands recorded."""
    evidence: tuple[dict[str, Any], ...] = ()
    printed: dict[str, Any] = {}
    for at, requirement in enumerate(step.requires):
        if isinstance(requirement, Field):
            continue
        result = dict(proof.check(requirement, {**run.recorded, **fields, **printed}))
        value = result.pop("value", None)
        evidence += (result,)
        tolerated = isinstance(requirement, Command) and (requirement.severity or requirement.may_fail)
        if not result["ok"] and not tolerated:
            others = _missing_files(step, {**run.recorded, **fields, **printed}, proof, at + 1)
            raise Refused("missing-evidence", " ".join([str(result["why"]), *others]), (), evidence)
        if isinstance(requirement, Command) and requirement.records:
            printed[requirement.records] = value
    return evidence, printed


def _missing_files(step: StepDef, fields: Mapping[str, Any], proof: Proof, begin: int = 0) -> list[str]:
    """Why files of the step are no evidence, of its requirements from ``begin`` on whose paths are known.

    Commands are not run: one may rest on what was refused, or change something.
    """
    files = [spec for spec in step.requires[begin:] if isinstance(spec, Artifact)]
    known = [spec for spec in files if "{" not in fill(spec.path, fields)]
    return [str(result["why"]) for spec in known if not (result := proof.check(spec, fields))["ok"]]


def _outcome(
    workflow: Workflow, run: Run, step: StepDef, report: Report, state: dict[str, Any]
) -> tuple[Outcome, dict[str, Any]]:
    """How the step ends, and the values that its function returned."""
    handler, function, gate = step.handler, step.function, step.gate
    outcome = Outcome.OK
    extra: dict[str, Any] = {}
    if handler is None:
        outcome = Outcome(report.outcome or "")
    elif isinstance(handler, Dispatch) and not state["results"]:
        outcome = Outcome.SKIP
    elif gate:
        from skills.lib.engine import gates

        outcome = gates.verdict(run, gate)
    elif function:
        from skills.lib.engine import handlers

        outcome, extra = handlers.judge(workflow, run, step, function, state, report.params)
    elif isinstance(handler, Dispatch):
        failed = any(entry["status"] == "lost" or entry.get("verdict") == "fail" for entry in state["results"])
        outcome = Outcome.FAIL if failed and Outcome.FAIL in step.next else Outcome.OK
    report.check_outcome(step, outcome)
    return outcome, extra


def _without_outdated_errata(run: Run, step: StepDef, state: Mapping[str, Any]) -> Run:
    """The run without the errata to values that the step's new state has changed or left out."""
    if not run.errata:
        return run
    from skills.lib.engine import errata  # few values prove wrong

    return errata.without_outdated(run, step, state)
