"""Child runs: what a dispatch asks of each sub-agent, and whether each is accounted for."""

from __future__ import annotations

from skills.lib.workflow import values
from skills.lib.workflow.context import WORTH_A_FILE
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.decision import Decision, Move, Refused, Repeat
from skills.lib.workflow.requirements import Field, fill
from skills.lib.workflow.texts import VALUE_LIMIT
from skills.lib.workflow.types import Dispatch, Outcome, QRStatus, is_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.workflow.state import Request, Run

TASK = "task"
# How long a free-form task with its context may be before the values in it stand in CONTEXT instead.
TOLD_LIMIT = 5_000


def specs(workflow: Workflow, run: Run, step: StepDef, computed: Sequence[Any] = ()) -> list[dict[str, Any]]:
    """What each child of ``step`` is given, in order; ``computed`` is what a targets function returned.

    None where there is no target and the step may be skipped; ValueError where the targets cannot be dispatched.
    """
    dispatch = step.handler
    assert isinstance(dispatch, Dispatch)
    checkpoint = step.checkpoint
    pairs = _assignments(run, step, dispatch, computed)
    present, shares = len(pairs), []
    if checkpoint:
        from skills.lib.workflow import sharing

        targets = [target for target, _ in pairs]
        shares = sharing.shares(run.reviews.get(checkpoint), targets, bool(dispatch.targets))
        pairs += [(target, dispatch.task) for target, _ in shares[present:]]
    given = _known(workflow, run)
    made = []
    for at, (target, task) in enumerate(pairs, 1):
        fields = {**given, "target": target}
        told = _told(dispatch, task, fields)
        spec: dict[str, Any] = {
            "agent": dispatch.agent.value,
            "number": at,
            "step": step.id,
            "title": step.title,
            "script": dispatch.script,
            "task": fill(task, told),
            "target": target,
            "context": fill(dispatch.context, told),
            "params": _params(step, dispatch, fields) if dispatch.script else {},
            "model": dispatch.model,
        }
        if not dispatch.script:
            cut = {name: value for name, value in fields.items() if told[name] is not value}
            spec.update(
                {name: more for name, more in (("values", cut), ("forbidden", list(workflow.forbidden))) if more}
            )
        if checkpoint:
            spec["checkpoint"] = checkpoint
            spec["items"] = shares[at - 1][1]
            if at > present:
                spec["gone"] = True
        elif Outcome.FAIL in step.next:
            spec["verdict"] = True
        made.append(spec)
    return made


def _known(workflow: Workflow, run: Run) -> dict[str, Any]:
    """What may stand in a task, by name; what was not given or recorded is an empty text."""
    fields = {
        f"{step.id}.{spec.name}": "" for step in workflow.steps for spec in step.requires if isinstance(spec, Field)
    }
    given = {**fields, **run.params, **run.recorded}
    return {name: "" if value is None else value for name, value in given.items()}


def _told(dispatch: Dispatch, task: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """What is put into a free-form task: the values, or where one stands that would make it too long."""
    told = dict(fields)
    if dispatch.script:
        return told
    named = [name for name in fields if f"{{{name}}}" in task or f"{{{name}}}" in dispatch.context]
    for name in sorted(named, key=lambda name: -len(fill(f"{{{name}}}", fields))):
        long = len(fill(task, told)) + len(fill(dispatch.context, told)) > TOLD_LIMIT
        if not long or len(fill(f"{{{name}}}", fields)) <= WORTH_A_FILE:
            break
        told[name] = f"[{name}: it stands in CONTEXT]"
    return told


def _params(step: StepDef, dispatch: Dispatch, fields: Mapping[str, Any]) -> dict[str, str]:
    """The parameters that a sub-agent's run is opened with; ValueError for one that no run could be opened with.

    A text that is too long is cut; a parameter that stands for nothing but a value that was not recorded is left out.
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


def task_workflow(name: str, spec: Mapping[str, Any]) -> Workflow:
    """The one-step workflow that a free-form sub-agent walks: its task, and the result it must report."""
    if "checkpoint" in spec:
        what = "one object per check; on a re-verification, exactly the items you were given, judged anew"
        requires = [Field("items", "items", help=what)]
    else:
        requires = [Field("result", help="what you found or did, with file and line where it applies")]
        if spec.get("verdict"):
            requires.append(Field("verdict", choices=tuple(QRStatus), help="pass only if nothing must be changed"))
    actions = [spec["task"]]
    if spec.get("context"):
        actions += ["", spec["context"]]
    if spec.get("items"):
        actions += [
            "",
            "Verify each of these items afresh: they stand under items, in CONTEXT.",
            "What the earlier review found is left out on purpose: look, then judge.",
        ]
    elif "checkpoint" in spec:
        actions += [
            "",
            "Split the review into items, one checkable statement each, and judge every one: PASS, FAIL or TODO.",
            "MUST: cannot be undone later, or breaks what is asked. SHOULD: costs later. COULD: taste.",
        ]
    if spec.get("gone"):
        actions += [
            "",
            "This target was reviewed before, and the step does not name it any more. Where nothing of it is left to "
            "judge, PASS is right: say so in the finding. What has moved is judged where it is now.",
        ]
    return Workflow(
        name,
        StepDef(
            TASK,
            spec.get("title") or "Task",
            actions,
            {Outcome.OK: None},
            requires=requires,
            forbidden=(
                "Start no sub-agents.",
                "Ask the user nothing: a question is part of your result.",
                *spec.get("forbidden", ()),
            ),
        ),
    )


def to_verify(spec: Mapping[str, Any]) -> list[str]:
    """The items that a reviewer verifies again, a line each, without what the earlier review made of them."""
    return [
        f"{item['id']} ({item['severity']}, {item['scope'] or 'whole'}): {item['check']}"
        for item in spec.get("items") or ()
    ]


def missing(children: Sequence[Run]) -> list[Run]:
    """The children that have neither finished nor been accounted for."""
    return [child for child in children if not child.ended]


def results(children: Sequence[Run]) -> list[dict[str, Any]]:
    """What each child returned, in order; a lost one says why."""
    found = []
    for child in children:
        if child.status == "replaced":
            continue
        entry: dict[str, Any] = {"child": child.id, "target": child.spec.get("target", ""), "status": child.status}
        if child.status == "done":
            entry["values"] = child.state.get(child.last.get("step", ""), {})
            entry["verdict"] = verdict_of(child)
        else:
            entry["reason"] = child.last.get("reason", "")
        found.append(entry)
    return found


def verdict_of(child: Run) -> str:
    """``pass`` or ``fail``: what the child recorded as its verdict, else how its last step ended."""
    values = child.state.get(child.last.get("step", ""), {})
    if is_word(QRStatus, values.get("verdict")):
        return str(values["verdict"])
    return "fail" if child.last.get("outcome") == Outcome.FAIL else "pass"


def collect(run: Run, step: StepDef, brood: Sequence[Run]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the children brought, and the reviews with theirs counted; refused while one is unaccounted for."""
    out = missing(brood)
    if out:
        names = ", ".join(child.id for child in out)
        why = (
            f"{step.id} waits for {len(out)} of its sub-agents: {names}. NEXT shows the command of each, and how to "
            "give up on one that never comes back (--lost) or to start another in its place (--replace)."
        )
        raise Refused("unaccounted-child", why, tuple(child.id for child in out))
    found = {"results": results(brood)}
    checkpoint = step.checkpoint
    if checkpoint is None or not brood:
        return found, run.reviews
    from skills.lib.workflow import sharing

    return found, {**run.reviews, checkpoint: sharing.reviewed(run, checkpoint, brood)}


def account(run: Run, request: Request, brood: Sequence[Run]) -> Decision:
    """Give up on a child (lost), or start another in its place."""
    child_id = request.lost or request.replace or ""
    known = {child.id: child for child in brood}
    if values.is_placeholder(child_id, "child"):
        flag = "--lost" if request.lost else "--replace"
        why = f"{flag} still stands as a placeholder; put in the id of a sub-agent that has not finished."
        raise Refused("unfilled", why, tuple(c.id for c in missing(brood)))
    child = known.get(child_id)
    if child is None:
        raise Refused("unknown-child", f"{child_id!r:.80} is not a sub-agent of the present step.", tuple(known))
    verb = "lost" if request.lost else "replaced"
    if child.status == verb:
        return Repeat()
    if child.ended:
        raise Refused(
            "child-ended", f"{child_id} is {child.status} already.", tuple(c.id for c in brood if not c.ended)
        )
    reason = (request.reason or "").strip()
    if request.lost and (not reason or values.is_placeholder(reason, "reason")):
        raise Refused("no-reason", f"Say why {child_id} is given up: --reason.")
    create = () if request.lost else (child.spec,)
    return Move(run, f"child-{verb}", {"child": child_id, "reason": reason}, create, ((child_id, verb),))
