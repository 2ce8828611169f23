"""What a reviewer's step leaves: the items that follow from its answers, its places, and its commands' ends."""

from __future__ import annotations

from skills.lib.engine import answers
from skills.lib.engine.decision import Refused
from skills.lib.model.requirements import Command, Field
from skills.lib.model.run import Run
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.types import ItemStatus

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.engine.proof import Proof

# How much of a failed command's output becomes the finding.
TAIL = 600


def judged(
    workflow: Workflow,
    run: Run,
    step: StepDef,
    recorded: Mapping[str, Any],
    evidence: Sequence[Mapping[str, Any]],
    proof: Proof,
) -> dict[str, Any]:
    """What the step's state keeps beside what was reported: ``items``, and ``judged`` by commands; empty if neither."""
    found: dict[str, Any] = {}
    commands = _by_commands(run, step, evidence)
    if commands:
        found["judged"] = commands
    for spec in step.requires:
        if not isinstance(spec, Field) or spec.name not in recorded:
            continue
        if spec.type == "answers":
            state = {**run.state, step.id: {**run.state.get(step.id, {}), "judged": commands}}
            found["items"] = answers.items(workflow, run.changed(state=state), recorded[spec.name], proof)
        elif spec.type == "items":
            reported = _located(run, recorded[spec.name], proof)
            state = {**run.state, step.id: {**run.state.get(step.id, {}), "judged": commands}}
            found[spec.name] = answers.completed(workflow, run.changed(state=state), reported)
    items = found.get("items")
    if items is not None:
        items = found["items"] = answers.with_findings_before(items, answers.findings_before(run))
    # What its author made a COULD is none of the reviewer's choice.
    own = [item for item in items or () if "kind" not in item and not item.get("command")]
    if items and own and not run.spec.get("items") and not answers.has_something_that_blocks(items):
        why = "Every item is a COULD, and a COULD stops nothing: judge at least one thing that is MUST or SHOULD."
        raise Refused("bad-value", why)
    return found


def check(workflow: Workflow, run: Run, step: StepDef, recorded: Mapping[str, Any], proof: Proof) -> None:
    """Refuse answers or items that are wrong whatever the step's commands will show."""
    passed = [{"ok": True, "what": "", "why": ""} for spec in step.requires if not isinstance(spec, Field)]
    judged(workflow, run, step, recorded, passed, proof)


def _located(run: Run, items: Sequence[Mapping[str, Any]], proof: Proof) -> list[dict[str, Any]]:
    found, faults = [], []
    before = answers.findings_before(run)
    for given in items:
        item = dict(given)
        faults += answers.unsettled(item, before)
        if item.get("place"):
            faults += answers.located(item, run, proof)
        elif "covers" in run.spec and item["status"] != ItemStatus.TODO:
            faults.append(f"{item['id']}: place is empty; say where you looked, as path:line")
        found.append(item)
    if faults:
        raise Refused("bad-value", f"{'; '.join(faults[:6])}.")
    return found


def _by_commands(run: Run, step: StepDef, evidence: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """An item for each command of the step that judges: PASS if it ended with 0."""
    checks = [spec for spec in step.requires if not isinstance(spec, Field)]
    found: list[dict[str, Any]] = []
    for spec, result in zip(checks, evidence, strict=True):
        if isinstance(spec, Command) and spec.severity:
            name = f"{step.id}:{len(found) + 1}"
            what = spec.help or f"{result['what']} ends with 0"
            item = {"id": name, "scope": "all", "check": what, "severity": str(spec.severity), "place": ""}
            item["command"] = name
            status = ItemStatus.PASS if result["ok"] else ItemStatus.FAIL
            finding = f"{result['what']} ended with 0" if result["ok"] else str(result["why"])[-TAIL:]
            found.append({**item, "status": status.value, "finding": finding})
    return found
