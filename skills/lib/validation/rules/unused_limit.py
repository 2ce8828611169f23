"""A limit of iterations limits nothing.

## What it does
Reports `max_iterations` at a step that has no route for ITERATE, and none for FAIL or DEFAULT that could lead round.

## Why it is bad
The route that it was meant to bound is missing, or belongs to another step and is not bounded.

## Example
```python
WORKFLOW = Workflow(
    "inquiry",
    StepDef("investigate", "Investigate", "Find the cause.", {Outcome.OK: None}, max_iterations=5),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "inquiry",
    StepDef(
        "investigate",
        "Investigate",
        "Find the cause.",
        {Outcome.OK: None, Outcome.ITERATE: "investigate"},
        when={Outcome.OK: "the cause is found", Outcome.ITERATE: "it is not"},
        max_iterations=5,
    ),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model.types import Outcome
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "unused-limit"
SEVERITY: Severity = "warning"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per limit without a route that it bounds."""
    for at, step in enumerate(graph.steps):
        if not step.max_iterations or step.max_iterations < 1 or not step.next:
            continue
        if step.route(Outcome.ITERATE) is None and Outcome.FAIL not in step.next:
            yield graph.finding(
                RULE,
                SEVERITY,
                f"max_iterations of {step.id} is {step.max_iterations}, and the step has no route for iterate",
                why="the loop that it was meant to bound is missing, or is another step's",
                do="add Outcome.ITERATE: ... to its next, or leave max_iterations out",
                step=at,
            )
