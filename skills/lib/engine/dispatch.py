"""A run enters a step with sub-agents: what each of them is given (of a review: ``reviewers``)."""

from __future__ import annotations

from skills.lib.engine.decision import Move, Refused
from skills.lib.model import values
from skills.lib.model.as_data import plain_fields
from skills.lib.model.requirements import fill
from skills.lib.model.texts import VALUE_LIMIT, WORTH_A_FILE
from skills.lib.model.types import Dispatch, Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.engine.proof import Proof
    from skills.lib.model.run import Run
    from skills.lib.model.steps import StepDef, Workflow

# How long a free-form task with its context may be before the values in it are listed in CONTEXT instead.
TASK_LIMIT = 5_000


def enter(workflow: Workflow, run: Run, step: StepDef, kind: str, detail: dict[str, Any], proof: Proof | None) -> Move:
    """The move into the step, with the children to create. Raises Refused if its targets cannot be dispatched."""
    dispatch = step.handler
    assert isinstance(dispatch, Dispatch)
    wanted: Any = dispatch.targets
    functions = {check.kind: check.over for check in dispatch.checks if callable(check.over)}
    checks: dict[str, Any] = {}
    if callable(wanted) or functions:
        from skills.lib.engine import handlers  # most targets are recorded, or none

        if callable(wanted):
            wanted = handlers.targets(workflow, run, step, wanted)
        checks = {kind: handlers.targets(workflow, run, step, function) for kind, function in functions.items()}
    try:
        create = _specs(workflow, run, step, dispatch, wanted, checks)
    except ValueError as error:
        raise Refused("bad-targets", f"{error}.") from None
    contents: dict[str, dict[str, str]] = {}
    if create and proof is not None and step.checkpoint and (step.covers or run.reviews):
        from skills.lib.engine import reviewers  # most sub-agents review nothing

        run, contents = reviewers.hand_over(run, step, create, proof)
    return Move(run, kind, detail, tuple(create), contents=contents)


def _specs(
    workflow: Workflow,
    run: Run,
    step: StepDef,
    dispatch: Dispatch,
    computed: Sequence[Any],
    checks: Mapping[str, Sequence[str]],
) -> list[dict[str, Any]]:
    """What each child of ``step`` is given, in order.

    ``computed`` is what a targets function returned, ``checks`` what the targets functions of its checks returned.
    Empty if there are no targets and the step has a SKIP route; ValueError if the targets cannot be dispatched.
    """
    checkpoint = step.checkpoint
    pairs = _assignments(run, step, dispatch, computed)
    present = len(pairs)
    if checkpoint:
        from skills.lib.engine import reviewers  # most sub-agents review nothing

        targets = [target for target, _ in pairs]
        shares = reviewers.shares(run.reviews.get(checkpoint), targets, bool(dispatch.targets))
        pairs += [(target, dispatch.task) for target, _ in shares[present:]]
        reviewed = reviewers.covered(run, step)
    given = _known(workflow, run)
    made = []
    for at, (target, task) in enumerate(pairs, 1):
        fields = {**given, "target": target}
        spec = _task_spec(workflow, step, dispatch, at, task, fields)
        if checkpoint:
            items = shares[at - 1][1]
            of_review = reviewers.review_spec(run, checkpoint, dispatch, checks, target, at, items)
            optional = {"gone": at > present, **reviewed}
            spec.update(of_review, **{name: value for name, value in optional.items() if value or name == "covers"})
        elif Outcome.FAIL in step.next:
            spec["verdict"] = True
        made.append(spec)
    return made


def _task_spec(
    workflow: Workflow, step: StepDef, dispatch: Dispatch, number: int, task: str, fields: Mapping[str, Any]
) -> dict[str, Any]:
    """What any child is given: its script and parameters, or its task with the values that are listed beside it."""
    inserted = _inserted(dispatch, task, fields)
    spec: dict[str, Any] = {
        "agent": str(dispatch.agent),
        "number": number,
        "step": step.id,
        "title": step.title,
        "script": dispatch.script,
        "task": fill(task, inserted),
        "target": fields["target"],
        "context": fill(dispatch.context, inserted),
        "params": _params(step, dispatch, fields) if dispatch.script else {},
        "model": dispatch.model,
    }
    if not dispatch.script:
        cut = {name: value for name, value in fields.items() if inserted[name] is not value}
        asked = [plain_fields(field) for field in dispatch.requires]
        optional = {"values": cut, "forbidden": list(workflow.forbidden), "fields": asked}
        spec.update({name: value for name, value in optional.items() if value})
    return spec


def _known(workflow: Workflow, run: Run) -> dict[str, Any]:
    """The values that a task may name; one that was not given or recorded is an empty text."""
    fields = {f"{step.id}.{name}": "" for step in workflow.steps for name in step.records}
    given = {**fields, **run.params, **run.recorded}
    return {name: "" if value is None else value for name, value in given.items()}


def _inserted(dispatch: Dispatch, task: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """What is put into a free-form task: the values, or a note that CONTEXT has one, if they make the task too long."""
    inserted = dict(fields)
    if dispatch.script:
        return inserted
    named = [name for name in fields if f"{{{name}}}" in task or f"{{{name}}}" in dispatch.context]
    for name in sorted(named, key=lambda name: -len(fill(f"{{{name}}}", fields))):
        long = len(fill(task, inserted)) + len(fill(dispatch.context, inserted)) > TASK_LIMIT
        if not long or len(fill(f"{{{name}}}", fields)) <= WORTH_A_FILE:
            break
        inserted[name] = f"[{name}: it stands in CONTEXT]"
    return inserted


def _params(step: StepDef, dispatch: Dispatch, fields: Mapping[str, Any]) -> dict[str, str]:
    """The parameters that a sub-agent's run is opened with; ValueError for one that no run could be opened with.

    A text that is too long is cut. A parameter is left out if its value was not recorded.
    """
    params = {}
    for name, template in dispatch.params.items():
        value = fields.get(template[1:-1], template) if template[:1] == "{" and template[-1:] == "}" else template
        text = fill(template, fields)
        if template and not text.strip():
            continue
        over = f"{len(text):,} characters"
        what = f"step {step.id} gives its sub-agents {name} as {template}: "
        if values.is_placeholder(text, name):
            raise ValueError(f"{what}{text[:80]!r} begins as a placeholder does that is still to be filled in")
        if len(text) > VALUE_LIMIT and not isinstance(value, str):
            raise ValueError(f"{what}a value of {over}, and {VALUE_LIMIT:,} are kept; record a shorter one")
        params[name] = text if len(text) <= VALUE_LIMIT else f"{text[: VALUE_LIMIT - 100]} … ({over})"
    return params


def _assignments(run: Run, step: StepDef, dispatch: Dispatch, computed: Sequence[Any]) -> list[tuple[str, str]]:
    """The target and task of each child; ValueError if there are none, or too many."""
    if dispatch.tasks:
        pairs = [("", task) for task in dispatch.tasks]
    elif dispatch.targets:
        targets, source = computed, "what its function computes"
        if isinstance(dispatch.targets, str):
            source = dispatch.targets
            recorded, _, field = source.partition(".")
            targets = run.state.get(recorded, {}).get(field) or []
        elif not callable(dispatch.targets):
            targets = dispatch.targets
        if not isinstance(targets, (list, tuple)) or (not targets and Outcome.SKIP not in step.next):
            raise ValueError(f"step {step.id} starts one sub-agent per entry of {source}, which has none")
        pairs = [(str(target), dispatch.task) for target in targets]
    else:
        pairs = [("", dispatch.task)]
    if len(pairs) > dispatch.cap:
        raise ValueError(
            f"step {step.id} starts one sub-agent per entry: {len(pairs)} entries, and at most {dispatch.cap} at once; "
            "merge some of them"
        )
    return pairs
