"""A route can never be taken.

## What it does
Reports a DEFAULT route where every outcome that the step can give has a route of its own, and an ITERATE route where
`max_iterations` is 1.

## Why it is bad
The route looks like a way through the graph and is none: whoever wrote it meant something else.

## Example
```python
WORKFLOW = Workflow(
    "tea",
    StepDef(
        "taste",
        "Taste it",
        next={Outcome.OK: None, Outcome.FAIL: "sweeten", Outcome.DEFAULT: "sweeten"},
        handler=Person("Is it good?", {"yes": Outcome.OK, "no": Outcome.FAIL}),
    ),
    StepDef("sweeten", "Add honey", next={Outcome.OK: None}),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "tea",
    StepDef(
        "taste",
        "Taste it",
        next={Outcome.OK: None, Outcome.DEFAULT: "sweeten"},
        handler=Person("Is it good?", {"yes": Outcome.OK, "no": Outcome.FAIL}),
    ),
    StepDef("sweeten", "Add honey", next={Outcome.OK: None}),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model.types import Outcome
from skills.lib.validation import outcomes
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "shadowed-route"
SEVERITY: Severity = "error"
VALUE = "outcome"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per route that another rule of the workflow leaves nothing for."""
    for (at, outcome), why in graph.never_taken.items():
        step = graph.steps[at]
        can = outcomes.possible(step)
        if outcome is not Outcome.DEFAULT and can is not None and outcome not in can:
            continue
        yield graph.finding(
            RULE,
            SEVERITY,
            f"{step.id} -{outcome.value}-> {step.next[outcome] or 'end'} can never be taken: {why}",
            why="it looks like a way through the graph and is none",
            do="delete it, or what leaves it nothing: another route, or the limit",
            step=at,
            outcome=outcome,
            value=outcome.value,
        )
