"""Child runs: what a dispatch asks of each sub-agent, and whether each is accounted for."""

from __future__ import annotations

from skills.lib.workflow import quality, values
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.decision import Decision, Move, Refused, Repeat
from skills.lib.workflow.requirements import Field, fill
from skills.lib.workflow.texts import VALUE_LIMIT
from skills.lib.workflow.types import Dispatch, ItemStatus, Outcome, QRStatus, Severity, is_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.workflow.state import Request, Run

TASK = "task"


def specs(run: Run, step: StepDef, computed: Sequence[Any] = ()) -> list[dict[str, Any]]:
    """What each child of ``step`` is given, in order; ``computed`` is what a targets function returned.

    None where there is no target and the step may be skipped; ValueError where the targets cannot be dispatched.
    """
    dispatch = step.handler
    assert isinstance(dispatch, Dispatch)
    checkpoint = step.checkpoint
    pairs = _assignments(run, step, dispatch, computed)
    shares = _shares((run.reviews.get(checkpoint or "") or {}).get("items", []), len(pairs))
    given = {**run.params, **run.recorded}
    made = []
    for at, (target, task) in enumerate(pairs, 1):
        fields = {**given, "target": target}
        spec: dict[str, Any] = {
            "agent": dispatch.agent.value,
            "number": at,
            "step": step.id,
            "title": step.title,
            "script": dispatch.script,
            "task": fill(task, fields),
            "target": target,
            "context": fill(dispatch.context, fields),
            "params": {name: _kept(fill(value, fields)) for name, value in dispatch.params.items()},
            "model": dispatch.model,
        }
        if checkpoint:
            spec["checkpoint"] = checkpoint
            spec["items"] = shares[at - 1]
        elif Outcome.FAIL in step.next:
            spec["verdict"] = True
        made.append(spec)
    return made


def _kept(value: str) -> str:
    """A parameter that its sub-agent's run can be opened with, however much was filled in."""
    over = len(value) > VALUE_LIMIT
    return f"{value[: VALUE_LIMIT - 100]} … ({len(value):,} characters)" if over else value


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


def _shares(items: Sequence[Mapping[str, Any]], reviewers: int) -> list[list[dict[str, str]]]:
    """The items that each reviewer verifies again, unjudged: its own, and those of a reviewer that is there no more.

    One who never split a review off (it was lost) has nothing to verify again: its successor makes the first review.
    """
    shares: list[dict[str, dict[str, str]]] = [{} for _ in range(reviewers)]
    for item in items:
        if item.get("unsplit"):
            continue
        share = shares[(item["owner"] - 1) % reviewers]
        given = {name: item[name] for name in ("id", "scope", "check", "severity")}
        # Two reviewers may have called different items the same.
        at = 1
        while given["id"] in share:
            at += 1
            given["id"] = f"{item['id'][:60]}.{at}"
        share[given["id"]] = given
    return [list(share.values()) for share in shares]


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
    return Workflow(
        name,
        StepDef(
            TASK,
            spec.get("title") or "Task",
            actions,
            {Outcome.OK: None},
            requires=requires,
            forbidden=("Start no sub-agents.", "Ask the user nothing: a question is part of your result."),
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


def reviewed_items(children: Sequence[Run]) -> list[dict[str, Any]]:
    """The items that the reviewers reported, each with the number of its reviewer; a lost reviewer leaves TODOs."""
    items: list[dict[str, Any]] = []
    for child in children:
        if child.status == "replaced":
            continue
        number = child.spec["number"]
        reported = child.state.get(child.last.get("step", ""), {}).get("items") if child.status == "done" else None
        if reported is None:
            reason = child.last.get("reason") or "the reviewer recorded no items"
            first = {"id": f"reviewer-{number}", "scope": "", "check": "the review was made", "severity": Severity.MUST}
            known = child.spec.get("items") or [{**first, "unsplit": True}]
            reported = [{**item, "status": ItemStatus.TODO, "finding": f"not reviewed: {reason}"} for item in known]
        items.extend({**item, "owner": number} for item in reported)
    return items


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
    items = reviewed_items(brood)
    iteration = run.reviews.get(checkpoint, {}).get("iteration", 0) + 1
    review = {"iteration": iteration, "items": items, "status": quality.verdict(items, iteration)}
    return found, {**run.reviews, checkpoint: review}


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
