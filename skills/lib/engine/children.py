"""Child runs: the workflow of a free-form sub-agent, what the children returned, and whether each is accounted for."""

from __future__ import annotations

from skills.lib.engine.decision import Move, Refused
from skills.lib.errors import SkillError
from skills.lib.model import values
from skills.lib.model.requirements import Field
from skills.lib.model.run import FINISHED, Run
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.types import Outcome, QRStatus, is_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


TASK = "task"


def task_workflow(name: str, spec: Mapping[str, Any]) -> Workflow:
    """The one-step workflow that a free-form sub-agent follows: its task, and the result that it must report."""
    if spec.get("answers"):
        requires = [Field("answers", "answers")]
    elif "checkpoint" in spec:
        requires = [Field("items", "items")]
    else:
        requires = [Field("result", help="what you found or did, with file and line where it applies")]
        if spec.get("verdict"):
            requires.append(Field("verdict", choices=tuple(QRStatus), help="pass only if nothing must be changed"))
        requires += _fields(spec)
    actions = [spec["task"]]
    if spec.get("context"):
        actions += ["", spec["context"]]
    if spec.get("items"):
        actions += [
            "",
            "This is a re-verification: judge each item of CONTEXT again. Look, then judge: what the earlier review",
            "found is left out on purpose. Say in finding what is there now.",
        ]
    elif "checkpoint" in spec and not spec.get("answers"):
        actions += [
            "",
            "Split the review into items, one checkable statement each, and judge every one: PASS, FAIL or TODO.",
            "MUST: cannot be undone later, or breaks what is asked. SHOULD: costs later. COULD: taste.",
        ]
    if spec.get("answers") and spec.get("checks"):
        actions += [
            "",
            "Make every check that CONTEXT lists, for each of its targets. A FAIL has a finding: what is wrong, what "
            "settles it.",
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


def _fields(spec: Mapping[str, Any]) -> list[Field]:
    """The fields that its step requires of a sub-agent. Raises SkillError for what is no field: of anybody's ledger."""
    try:
        return [Field(**field) for field in spec.get("fields", ())]
    except (TypeError, ValueError) as error:
        raise SkillError(f"step {spec['step']} requires of its sub-agents what is no field: {error}") from error


def to_check(spec: Mapping[str, Any]) -> list[str]:
    """The checks that a reviewer must make, a line for each kind, with its targets."""
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for check in spec.get("checks") or ():
        kinds.setdefault(check["kind"], []).append(check)
    lines = []
    for kind, checks in kinds.items():
        targets, head = [check["scope"] for check in checks], f"{kind} ({checks[0]['severity']})"
        same = [check["check"].removesuffix(f": {check['detail']}") for check in checks if "detail" in check]
        if not same and len({check["check"] for check in checks}) == 1:
            of = "" if targets == ["all"] else f" Targets: {', '.join(targets)}"
            lines.append(f"{head}: {checks[0]['check']}.{of}")
        else:
            head += f": {same[0]}. Targets:" if same else ", for each target:"
            each = [f"{check['scope']}: {check.get('detail', check['check'])}" for check in checks]
            lines.append("\n".join([head, *each]))
    return lines


def _results(children: Sequence[Run]) -> list[dict[str, Any]]:
    """What each child returned, in order; a lost one says why."""
    found = []
    for child in children:
        if child.status == "replaced":
            continue
        entry: dict[str, Any] = {"child": child.id, "target": child.spec.get("target", ""), "status": child.status}
        if child.status in FINISHED:
            entry["values"] = child.state.get(child.last.get("step", ""), {})
            verdict = verdict_of(child)
            if verdict:
                entry["verdict"] = verdict
        else:
            entry["reason"] = child.last.get("reason", "")
        found.append(entry)
    return found


def verdict_of(child: Run) -> str:
    """The verdict that the child recorded; ``fail`` if its run failed; empty if nobody judged."""
    values = child.state.get(child.last.get("step", ""), {})
    if is_word(QRStatus, values.get("verdict")):
        return str(values["verdict"])
    return "fail" if child.status == "failed" or child.last.get("outcome") == Outcome.FAIL else ""


def collect(run: Run, step: StepDef, children: Sequence[Run]) -> tuple[dict[str, Any], Run]:
    """The children's results, and the run with their review counted. Raises Refused while a child is still running."""
    running = [child for child in children if not child.ended]
    if running:
        names = ", ".join(child.id + " (not begun)" * (child.status == "pending") for child in running)
        why = f"{step.id} waits for {len(running)} of its sub-agents: {names}."
        how = (
            "NEXT shows the command of each, and how to give up on one that never comes back (--lost) or to start "
            "another in its place (--replace)."
        )
        raise Refused("unaccounted-child", why, tuple(child.id for child in running), of="runs", how=how)
    found = {"results": _results(children)}
    if any(child.not_done or child.status == "failed" for child in children):
        ended = [child for child in children if child.status in FINISHED]
        run = _with_not_done(run, step.id, ended)
        # A review counts what its reviewers left out, and a FAIL route says what follows.
        if step.checkpoint is None and Outcome.FAIL not in step.next:
            run = _with_failed(run, step.id, ended)
    if step.checkpoint is not None and children:
        from skills.lib.engine import reviewers  # most sub-agents review nothing

        review = reviewers.reviewed(run, step.checkpoint, children)
        run = run.changed(reviews={**run.reviews, step.checkpoint: review})
    return found, run


def _with_not_done(run: Run, step: str, children: Sequence[Run]) -> Run:
    """The run with what its finished sub-agents left undone; an entry of kind review is noted once for all rounds."""
    before = [entry["what"] for entry in run.not_done if entry["step"] == step]
    for child in children:
        for entry in child.not_done:
            what = f": {entry['what']}"
            if entry["kind"] != "review" or not any(text.endswith(what) for text in before):
                run = run.noted(entry["kind"], step, f"sub-agent {child.id}{what}")
    return run


def _with_failed(run: Run, step: str, children: Sequence[Run]) -> Run:
    """The run with an entry for each of its sub-agents whose own run failed."""
    for child in children:
        if child.status == "failed":
            what = f"{child.id} ({_task_of(child)}) ended as failed, and nothing followed from it"
            run = run.noted("sub-agent", step, what)
    return run


def _task_of(child: Run) -> str:
    """What a sub-agent was started for, in few words: its target, its task or its script."""
    given = child.spec.get("target") or child.spec.get("task") or child.spec.get("script") or ""
    return " ".join(given.split())[:80]


def account(run: Run, verb: str, child_id: str, given: str | None, children: Sequence[Run]) -> Move | None:
    """Give up on a child (``verb`` is lost), or start another in its place (replaced); None if that was done before."""
    is_lost, reason = verb == "lost", (given or "").strip()
    argument = "lost" if is_lost else "replace"
    known = {child.id: child for child in children}
    running = tuple(child.id for child in children if not child.ended)
    if values.is_placeholder(child_id, "child"):
        why = f"--{argument} still stands as a placeholder; put in the id of a sub-agent that has not finished."
        raise Refused("unfilled", why, running, of="runs", missing=(argument,))
    child = known.get(child_id)
    if child is None:
        why = f"{child_id!r:.80} is not a sub-agent of the present step."
        raise Refused("unknown-child", why, tuple(known), of="runs", wrong=(argument,))
    if child.status == verb:
        return None
    if child.ended:
        raise Refused("child-ended", f"{child_id} is {child.status} already.", running, of="runs", wrong=(argument,))
    if is_lost and (not reason or values.is_placeholder(reason, "reason")):
        raise Refused("no-reason", f"Say why {child_id} is given up: --reason.", missing=("reason",))
    if is_lost:
        what = f"{child_id} ({_task_of(child)}) was given up: {reason}"
        run = run.noted("sub-agent", run.step or "", what)
    create = () if is_lost else (child.spec,)
    return Move(run, f"child-{verb}", {"child": child_id, "reason": reason}, create, ((child_id, verb),))
