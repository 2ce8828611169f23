"""A step has no route out.

## What it does
Reports every step without a single route.

## Why it is bad
A run that comes there can neither go on nor end.

## Example
```python
WORKFLOW = Workflow(
    "tea",
    StepDef(
        "boil",
        "Boil water",
        next={Outcome.OK: "steep", Outcome.SKIP: None},
        when={Outcome.OK: "there are leaves", Outcome.SKIP: "there are none"},
    ),
    StepDef("steep", "Let it steep"),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "tea",
    StepDef(
        "boil",
        "Boil water",
        next={Outcome.OK: "steep", Outcome.SKIP: None},
        when={Outcome.OK: "there are leaves", Outcome.SKIP: "there are none"},
    ),
    StepDef("steep", "Let it steep", next={Outcome.OK: None}),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "dead-end"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per step without routes."""
    for at, step in enumerate(graph.steps):
        if not step.next:
            yield graph.finding(
                RULE,
                SEVERITY,
                f"{step.id} has no route out",
                why="a run that comes here can neither go on nor end",
                do="give it next={Outcome.OK: ...}, with None where the workflow ends",
                step=at,
            )
