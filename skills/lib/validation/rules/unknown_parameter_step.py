"""A parameter belongs to a step that does not exist.

## What it does
Reports an `Arg` whose `step` names no step of the workflow.

## Why it is bad
Nobody is ever asked for the parameter, and what reads it finds nothing.

## Example
```python
WORKFLOW = Workflow(
    "inquiry",
    StepDef("investigate", "Investigate", next={Outcome.OK: None}),
    params=[Arg("confidence", choices=("low", "high"), step="investigation")],
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "inquiry",
    StepDef("investigate", "Investigate", next={Outcome.OK: None}),
    params=[Arg("confidence", choices=("low", "high"), step="investigate")],
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.nearest import did_you_mean
from skills.lib.validation.view import GraphView

RULE = "unknown-parameter-step"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per parameter of no step."""
    for arg in graph.workflow.params:
        if arg.step is None or arg.step in graph.index:
            continue
        near = graph.nearest.to(str(arg.step))
        yield graph.finding(
            RULE,
            SEVERITY,
            f"the parameter {arg.flag} belongs to the step {arg.step!r}, which does not exist{did_you_mean(near)}",
            why="nobody is ever asked for it",
            do=f"name {near or 'a step of this workflow'}, or leave step out for a parameter of the run",
            line=graph.lines.of_parameter(arg.name),
        )
