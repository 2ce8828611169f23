"""No step leads to the end.

## What it does
Reports a workflow in which no route has the target `None`.

## Why it is bad
No run of it is ever done.

## Example
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("boil", "Boil water", next={Outcome.OK: "steep"}),
    StepDef("steep", "Let it steep", next={Outcome.OK: "boil"}),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("boil", "Boil water", next={Outcome.OK: "steep"}),
    StepDef(
        "steep",
        "Let it steep",
        next={Outcome.OK: None, Outcome.ITERATE: "boil"},
        when={Outcome.OK: "it is strong enough", Outcome.ITERATE: "the water was cold"},
        max_iterations=3,
    ),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "no-end"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding for a workflow that never ends."""
    if graph.steps and not graph.has_end:
        yield graph.finding(
            RULE,
            SEVERITY,
            f"no step of {graph.workflow.name} leads to the end",
            why="no run of it is ever done",
            do=f"give the last step, {graph.steps[-1].id} perhaps, a route to None: next={{Outcome.OK: None}}",
        )
