"""Large valid workflows: a chain with jumps ahead and bounded loops back."""

from __future__ import annotations

from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.types import Outcome


def large_workflow(steps: int) -> Workflow:
    """A workflow of that many steps: each fourth may skip two, each fifth may go back three, at most twice."""
    ids = [f"s{at}" for at in range(steps)]
    made = []
    for at, step_id in enumerate(ids):
        ways: dict[Outcome, str | None] = {Outcome.OK: ids[at + 1] if at + 1 < steps else None}
        if at % 4 == 1 and at + 3 < steps:
            ways[Outcome.SKIP] = ids[at + 3]
        loops = at % 5 == 4 and at + 1 < steps
        if loops:
            ways[Outcome.ITERATE] = ids[at - 3]
        when = {outcome: f"go on with {target}" for outcome, target in ways.items()} if len(ways) > 1 else {}
        limit = 2 if loops else None
        made.append(StepDef(step_id, f"Step number {at}", f"Do {at}.", ways, when=when, max_iterations=limit))
    return Workflow("large", *made)


def edges(workflow: Workflow) -> list[tuple[str, str, str]]:
    """Every route as source, outcome and target, the end as ``done``."""
    return [
        (step.id, outcome.value, target or "done") for step in workflow.steps for outcome, target in step.next.items()
    ]


def workflow_of_edges(count: int) -> Workflow:
    """The smallest large workflow with that many edges or more."""
    steps = 1
    while True:
        workflow = large_workflow(steps)
        found = len(edges(workflow))
        if found >= count:
            return workflow
        steps += max(1, (count - found) * steps // (2 * found))
