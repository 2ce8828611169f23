"""Two steps have the same title.

## What it does
Reports a step whose title an earlier step has already.

## Why it is bad
In a list, a diagram or a trace the two cannot be told apart.

## Example
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("boil", "Make tea", next={Outcome.OK: "steep"}),
    StepDef("steep", "Make tea", next={Outcome.OK: None}),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("boil", "Boil water", next={Outcome.OK: "steep"}),
    StepDef("steep", "Let it steep", next={Outcome.OK: None}),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "repeated-title"
SEVERITY: Severity = "warning"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per step after the first of its title."""
    first: dict[str, str] = {}
    for at, step in enumerate(graph.steps):
        title = step.title.strip()
        other = first.setdefault(title, step.id) if title else step.id
        if other != step.id:
            yield graph.finding(
                RULE,
                SEVERITY,
                f"{step.id} has the title of {other}: {title}",
                why="in a list, a diagram or a trace the two cannot be told apart",
                do="say in one of them what is different",
                step=at,
            )
