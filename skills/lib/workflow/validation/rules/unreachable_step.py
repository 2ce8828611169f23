"""No run can come to a step.

## What it does
Reports every step that a search from the start does not find. Steps that lead only to each other are found too,
although each of them has a route in.

## Why it is bad
What the step asks is never done, and nobody notices: the route to it was forgotten, or the step is left over.

## Example
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("boil", "Boil water", next={Outcome.OK: None}),
    StepDef("steep", "Let it steep", next={Outcome.OK: None}),
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

from skills.lib.workflow.validation import walks
from skills.lib.workflow.validation.finding import Finding, Severity
from skills.lib.workflow.validation.graph import GraphView

RULE = "unreachable-step"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per step that is not reached from the start."""
    reachable = graph.reachable
    if len(reachable) == len(graph.index):
        return
    into: dict[int, list[int]] = {}
    for node, _, target in graph.hops(range(len(graph.steps))):
        if target not in reachable and node != target:
            into.setdefault(target, []).append(node)
    start = graph.name(graph.start)
    for at in graph.index.values():
        if at not in reachable:
            come = f"only {walks.listed(graph, set(into[at]))} leads there" if at in into else "no route leads there"
            yield graph.finding(
                RULE,
                SEVERITY,
                f"no path leads from the start {start} to {graph.name(at)}: {come}",
                why="no run ever does what this step asks",
                do="route a step that is reached to it, or delete it",
                step=at,
            )
