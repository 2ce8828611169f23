"""A step has no title.

## What it does
Reports a step whose title is empty.

## Why it is bad
Lists, diagrams and the step's own heading fall back on the id, which says less.

## Example
```python
WORKFLOW = Workflow("tea", StepDef("boil", next={Outcome.OK: None}))
```

## Use instead
```python
WORKFLOW = Workflow("tea", StepDef("boil", "Boil water", next={Outcome.OK: None}))
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "missing-title"
SEVERITY: Severity = "warning"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per step without a title."""
    for at, step in enumerate(graph.steps):
        if not step.title or not step.title.strip():
            yield graph.finding(
                RULE,
                SEVERITY,
                f"{step.id} has no title",
                why="lists, diagrams and the step's heading show its id instead",
                do="say in a few words what the step is for",
                step=at,
            )
