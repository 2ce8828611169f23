"""Two steps have the same id.

## What it does
Reports every step whose id an earlier step has already.

## Why it is bad
A route names a step by its id: the second step of that id can never be come to, and its routes are ignored.

## Example
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("steep", "Let it steep", next={Outcome.OK: None}),
    StepDef("steep", "Let it steep again", next={Outcome.OK: None}),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("steep", "Let it steep", next={Outcome.OK: "steep-again"}),
    StepDef("steep-again", "Let it steep again", next={Outcome.OK: None}),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "duplicate-id"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per step after the first of its id."""
    if len(graph.index) == len(graph.steps):
        return
    for at, step in enumerate(graph.steps):
        first = graph.index[step.id]
        if first != at:
            yield graph.finding(
                RULE,
                SEVERITY,
                f"step {at + 1} has the id {step.id}, which step {first + 1} has already",
                why="a route names a step by its id, so the second can never be come to",
                do="give it an id of its own, and name it in the routes that are meant for it",
                step=at,
            )
