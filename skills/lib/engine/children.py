"""Child runs: what a dispatch asks of each sub-agent, and whether each is accounted for."""

from __future__ import annotations

from skills.lib.engine.decision import Decision, Move, Refused, Repeat
from skills.lib.model import values
from skills.lib.model.requirements import Field, fill
from skills.lib.model.run import FINISHED, Run
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.texts import VALUE_LIMIT, WORTH_A_FILE
from skills.lib.model.types import Dispatch, Outcome, QRStatus, Severity, is_word
from skills.lib.paths import folder_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.model.run import Request

TASK = "task"
# How long a free-form task with its context may be before the values in it stand in CONTEXT instead.
TOLD_LIMIT = 5_000
# What a reviewer looks at of whose checks nothing is left.
REST = "what is there now does what is asked, and nothing that was changed harms it"


def specs(
    workflow: Workflow,
    run: Run,
    step: StepDef,
    computed: Sequence[Any] = (),
    checks: Mapping[str, Sequence[str]] | None = None,
) -> list[dict[str, Any]]:
    """What each child of ``step`` is given, in order.

    ``computed`` is what a targets function returned, ``checks`` what the targets functions of its checks did. Empty if
    there are no targets and the step has a SKIP route; ValueError if the targets cannot be dispatched.
    """
    dispatch = step.handler
    assert isinstance(dispatch, Dispatch)
    checkpoint = step.checkpoint
    pairs = _assignments(run, step, dispatch, computed)
    present, shares = len(pairs), []
    if checkpoint:
        from skills.lib.engine import sharing

        targets = [target for target, _ in pairs]
        shares = sharing.shares(run.reviews.get(checkpoint), targets, bool(dispatch.targets))
        pairs += [(target, dispatch.task) for target, _ in shares[present:]]
    reviewed = _covered(run, step) if checkpoint and (dispatch.covers or run.reviews) else {}
    given = _known(workflow, run)
    made = []
    for at, (target, task) in enumerate(pairs, 1):
        fields = {**given, "target": target}
        told = _told(dispatch, task, fields)
        spec: dict[str, Any] = {
            "agent": str(dispatch.agent),
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
            given_items = shares[at - 1][1]
            before = _of_reviewer(run, checkpoint, target, at)
            accepted = [item for item in before if item.get("accepted")]
            if accepted and not given_items and (dispatch.script or not dispatch.checks):
                # It has nothing left to verify: what is there now is still looked at.
                given_items = [{"id": "rest-1", "scope": "all", "check": REST, "severity": Severity.MUST.value}]
            spec["checkpoint"] = checkpoint
            if dispatch.checks and not dispatch.script:
                spec["answers"] = True
            spec["items"] = [{name: part for name, part in item.items() if name != "failed"} for item in given_items]
            more = {
                "failed": [item["id"] for item in given_items if item.get("failed")],
                "checks": _checks(run, dispatch, checks, target, given_items, before),
                "accepted": [f"{item['check']}: {item['finding']} ({item['accepted']})" for item in accepted],
                "gone": at > present,
                **reviewed,
            }
            spec.update({name: value for name, value in more.items() if value or name == "covers"})
        elif Outcome.FAIL in step.next:
            spec["verdict"] = True
        made.append(spec)
    return made


def _covered(run: Run, step: StepDef) -> dict[str, Any]:
    """What a reviewer is told of the files that its review covers, and the folders that places may begin in.

    Empty for a review that is about no files.
    """
    from skills.lib.engine import verdicts

    if not verdicts.covers_files(run, step):
        return {}
    covers = verdicts.patterns(run, step)
    folders = dict.fromkeys([folder_of(text) for text in covers])
    return {"covers": covers, "bases": [folder for folder in folders if folder and folder != "."]}


def _of_reviewer(run: Run, checkpoint: str, target: str, number: int) -> list[dict[str, Any]]:
    """The items of a reviewer in the series of reviews that is open."""
    from skills.lib.engine import quality

    items = quality.open_series(run.reviews.get(checkpoint)).get("items", ())
    mine = ("target", target) if target else ("owner", number)
    return [item for item in items if item.get(mine[0]) == mine[1]]


def _checks(
    run: Run,
    dispatch: Dispatch,
    computed: Mapping[str, Sequence[str]] | None,
    target: str,
    again: Sequence[Mapping[str, Any]],
    before: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """The checks that a reviewer must make beside the items that it verifies again, one for each kind and target.

    Of the items of the review ``before``, one that a person accepted is not checked again; one that a lost reviewer was
    to check is, though it may be a target no more.
    """
    made = []
    given = [*again, *[item for item in before if item.get("accepted")]]
    for check in dispatch.checks:
        over = (computed or {}).get(check.kind, check.over)
        if over == "{target}":
            over = [target]
        elif isinstance(over, str):
            step, _, field = over.rpartition(".")
            over = run.state.get(step, {}).get(field) or []
        known = {item["scope"] for item in given if item.get("kind") == check.kind}
        taken = {item["id"] for item in given}
        number = 0
        scopes = _scopes(over if isinstance(over, (list, tuple)) and check.over else ["all"])
        for item in before:
            if item.get("unsplit") and item.get("kind") == check.kind:
                scopes.setdefault(item["scope"], item.get("detail", ""))
        for scope, detail in scopes.items():
            if scope in known:
                continue
            number += 1
            while f"{check.kind}-{number}" in taken:
                number += 1
            text = f"{check.text}: {detail}" if detail else check.text
            stub = {"id": f"{check.kind}-{number}", "kind": check.kind, "scope": scope, "check": text}
            made.append({**stub, "severity": str(check.severity), **({"detail": detail} if detail else {})})
    if dispatch.checks and not dispatch.script and not made and all(item.get("accepted") for item in given):
        # Each check was accepted by a person, or has no target: what is there now is still looked at.
        stub = {"id": "rest-1", "kind": "rest", "scope": "all", "check": REST}
        made.append({**stub, "severity": Severity.MUST.value})
    return made


def _scopes(entries: Sequence[Any]) -> dict[str, str]:
    """Each target of a check once, with all that must be so of it."""
    found: dict[str, str] = {}
    for entry in entries:
        scope, _, detail = (part.strip() for part in str(entry).partition("|"))
        found[scope] = "; ".join(part for part in (found.get(scope, ""), detail) if part)
    return found


def _known(workflow: Workflow, run: Run) -> dict[str, Any]:
    """What may stand in a task, by name; what was not given or recorded is an empty text."""
    fields = {f"{step.id}.{name}": "" for step in workflow.steps for name in step.records}
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
    if spec.get("answers"):
        requires = [Field("answers", "answers")]
    elif "checkpoint" in spec:
        requires = [Field("items", "items")]
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


def to_verify(items: Sequence[Mapping[str, Any]]) -> list[str]:
    """The items that a reviewer verifies again, a line each, without what the earlier review made of them."""
    return [f"{item['id']} ({item['severity']}, {item['scope'] or 'whole'}): {item['check']}" for item in items]


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
        if child.status in FINISHED:
            entry["values"] = child.state.get(child.last.get("step", ""), {})
            if verdict_of(child):
                entry["verdict"] = verdict_of(child)
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
    out = missing(children)
    if out:
        names = ", ".join(child.id + " (not begun)" * (child.status == "pending") for child in out)
        why = (
            f"{step.id} waits for {len(out)} of its sub-agents: {names}. NEXT shows the command of each, and how to "
            "give up on one that never comes back (--lost) or to start another in its place (--replace)."
        )
        raise Refused("unaccounted-child", why, tuple(child.id for child in out))
    found = {"results": results(children)}
    if any(child.not_done or child.status == "failed" for child in children):
        from skills.lib.engine import not_done

        ended = [child for child in children if child.status in FINISHED]
        run = not_done.from_children(run, step.id, ended)
        # A review counts what its reviewers left out, and a FAIL route says what follows.
        if step.checkpoint is None and Outcome.FAIL not in step.next:
            run = not_done.failed_children(run, step.id, ended)
    checkpoint = step.checkpoint
    if checkpoint is None or not children:
        return found, run
    from skills.lib.engine import sharing

    return found, run.changed(reviews={**run.reviews, checkpoint: sharing.reviewed(run, checkpoint, children)})


def account(run: Run, request: Request, children: Sequence[Run]) -> Decision:
    """Give up on a child (lost), or start another in its place."""
    child_id = request.lost or request.replace or ""
    known = {child.id: child for child in children}
    if values.is_placeholder(child_id, "child"):
        flag = "--lost" if request.lost else "--replace"
        why = f"{flag} still stands as a placeholder; put in the id of a sub-agent that has not finished."
        raise Refused("unfilled", why, tuple(c.id for c in missing(children)))
    child = known.get(child_id)
    if child is None:
        raise Refused("unknown-child", f"{child_id!r:.80} is not a sub-agent of the present step.", tuple(known))
    verb = "lost" if request.lost else "replaced"
    if child.status == verb:
        return Repeat()
    if child.ended:
        raise Refused(
            "child-ended", f"{child_id} is {child.status} already.", tuple(c.id for c in children if not c.ended)
        )
    reason = (request.reason or "").strip()
    if request.lost and (not reason or values.is_placeholder(reason, "reason")):
        raise Refused("no-reason", f"Say why {child_id} is given up: --reason.")
    if request.lost:
        from skills.lib.engine import not_done

        task = " ".join((child.spec.get("target") or child.spec.get("task") or "").split())[:80]
        run = not_done.noted(run, "sub-agent", run.step or "", f"{child_id} ({task}) was given up: {reason}")
    create = () if request.lost else (child.spec,)
    return Move(run, f"child-{verb}", {"child": child_id, "reason": reason}, create, ((child_id, verb),))
