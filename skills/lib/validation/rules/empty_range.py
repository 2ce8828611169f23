"""No value lies in a range.

## What it does
Reports a Field or an Arg whose `minimum` is greater than its `maximum`.

## Why it is bad
Whatever the agent reports is refused: no run can leave the step, or open.

## Example
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("pour", "Pour", next={Outcome.OK: None}, requires=[Field("cups", "int", minimum=8, maximum=1)]),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("pour", "Pour", next={Outcome.OK: None}, requires=[Field("cups", "int", minimum=1, maximum=8)]),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model.texts import number
from skills.lib.validation.asked import has_empty_range
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "empty-range"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per range that nothing lies in."""
    for one in graph.asked:
        low, high = one.spec.minimum, one.spec.maximum
        if low is None or high is None or not has_empty_range(one.spec):
            continue
        yield graph.finding(
            RULE,
            SEVERITY,
            f"{one.name} has the minimum {number(low)} and the maximum {number(high)}: nothing lies between",
            why="whatever is reported for it is refused",
            do="set a minimum that is not above the maximum, or leave one of them out",
            step=one.step,
            line=one.line,
        )
