"""A run enters a step with sub-agents: their targets are computed, and a review is handed its files."""

from __future__ import annotations

from skills.lib.workflow import children
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.decision import Move, Refused
from skills.lib.workflow.state import Run
from skills.lib.workflow.types import Dispatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.workflow.engine import Proof


def enter(workflow: Workflow, run: Run, step: StepDef, kind: str, detail: dict[str, Any], proof: Proof | None) -> Move:
    """The move into the step, with the children to create; refused if its targets cannot be dispatched."""
    dispatch = step.handler
    assert isinstance(dispatch, Dispatch)
    wanted: Any = dispatch.targets
    functions = [check for check in dispatch.checks if callable(check.over)]
    checks: dict[str, Any] = {}
    if callable(wanted) or functions:
        from skills.lib.workflow import calling

        if callable(wanted):
            wanted = calling.targets(workflow, run, step, wanted)
        checks = {check.kind: calling.targets(workflow, run, step, check.over) for check in functions}  # type: ignore[arg-type]
    try:
        create = children.specs(workflow, run, step, wanted, checks)
    except ValueError as error:
        raise Refused("bad-targets", f"{error}.") from None
    contents: dict[str, dict[str, str]] = {}
    if step.covers and proof is not None and create:
        from skills.lib.workflow import verdicts

        run, contents = verdicts.hand_over(run, step, proof)
        if not any(contents.values()):
            from skills.lib.workflow import not_done

            what = f"the review of {step.checkpoint} covers no file: {', '.join(step.covers)}"
            told = [entry for entry in run.not_done if entry["what"] == what]
            run = run if told else not_done.noted(run, "verdict", step.id, what)
        since = verdicts.since(run, step, proof)
        for spec in create if since else ():
            spec["since"] = since
    return Move(run, kind, detail, tuple(create), contents=contents)
