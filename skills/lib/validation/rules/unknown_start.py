"""A workflow starts at a step that it does not have.

## What it does
Reports a `start` that names no step, or nothing; and a `reverify` that names no step.

## Why it is bad
No run can be opened: none at all, or none that verifies the items of a review again.

## Example
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("boil", "Boil water", next={Outcome.OK: "steep"}),
    StepDef("steep", "Let it steep", next={Outcome.OK: None}),
    start="boill",
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("boil", "Boil water", next={Outcome.OK: "steep"}),
    StepDef("steep", "Let it steep", next={Outcome.OK: None}),
    start="boil",
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.nearest import did_you_mean
from skills.lib.validation.view import GraphView

RULE = "unknown-start"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding if the start is no step, and one if the start of a re-verification is none."""
    again = graph.workflow.reverify
    if again and again not in graph.index:
        near = graph.nearest.to(str(again))
        yield graph.finding(
            RULE,
            SEVERITY,
            f"reverify is {again!r}, and there is no such step{did_you_mean(near)}",
            why="no reviewer that verifies items again can begin",
            do=f"set reverify to {near or 'the id of the step that answers them'}, or leave it out",
        )
    start = graph.workflow.start
    if not graph.steps or start in graph.index:
        return
    near = graph.nearest.to(str(start)) if start else None
    what = f"the start is {start!r}, and there is no such step" if start else "the workflow names no start"
    yield graph.finding(
        RULE,
        SEVERITY,
        what + did_you_mean(near),
        why="no run can be opened",
        do=f"set start to {near or 'the id of a step'}, or leave it out to begin with {graph.steps[0].id}",
    )
