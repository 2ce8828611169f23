"""A run enters a step with sub-agents: their targets are computed, and a review is handed its files."""

from __future__ import annotations

from skills.lib.engine import children
from skills.lib.engine.decision import Move, Refused
from skills.lib.model.run import Run
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.types import Dispatch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.engine.proof import Proof


def enter(workflow: Workflow, run: Run, step: StepDef, kind: str, detail: dict[str, Any], proof: Proof | None) -> Move:
    """The move into the step, with the children to create; refused if its targets cannot be dispatched."""
    dispatch = step.handler
    assert isinstance(dispatch, Dispatch)
    wanted: Any = dispatch.targets
    functions = [check for check in dispatch.checks if callable(check.over)]
    checks: dict[str, Any] = {}
    if callable(wanted) or functions:
        from skills.lib.engine import calling

        if callable(wanted):
            wanted = calling.targets(workflow, run, step, wanted)
        checks = {check.kind: calling.targets(workflow, run, step, check.over) for check in functions}  # type: ignore[arg-type]
    try:
        create = children.specs(workflow, run, step, wanted, checks)
    except ValueError as error:
        raise Refused("bad-targets", f"{error}.") from None
    contents: dict[str, dict[str, str]] = {}
    if create and proof is not None and (step.covers or run.reviews):
        run, contents = _hand_over(run, step, create, proof)
    return Move(run, kind, detail, tuple(create), contents=contents)


def _hand_over(
    run: Run, step: StepDef, create: list[dict[str, Any]], proof: Proof
) -> tuple[Run, dict[str, dict[str, str]]]:
    """The run whose reviewers are handed their files, and these files; the reviewers are told what was changed."""
    from skills.lib.engine import verdicts

    if not verdicts.covers_files(run, step):
        return run, {}
    handed, contents = verdicts.hand_over(run, step, proof)
    what = verdicts.uncovered(run, step, any(contents.values()))
    told = [entry["what"] for entry in run.not_done]
    if any(text not in told for text in what):
        from skills.lib.engine import not_done

        for text in what:
            handed = handed if text in told else not_done.noted(handed, "verdict", step.id, text)
    since = verdicts.since(run, step, proof)
    for spec in create if since else ():
        spec["since"] = since
    return handed, contents
