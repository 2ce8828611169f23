"""A step says when an outcome is right that has no route.

## What it does
Reports an entry of `when` for an outcome that stands in `next` nowhere. What DEFAULT covers is described under DEFAULT.

## Why it is bad
The text is printed beside the routes: without the route it is not printed at all, and a branch that was meant is
missing.

## Example
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("boil", "Boil water", next={Outcome.OK: "steep"}),
    StepDef(
        "steep",
        "Let it steep",
        next={Outcome.OK: None},
        when={Outcome.OK: "it is strong enough", Outcome.FAIL: "the water was cold"},
    ),
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
        next={Outcome.OK: None, Outcome.SKIP: "cool"},
        when={Outcome.OK: "it is strong enough", Outcome.SKIP: "the water was cold"},
    ),
    StepDef("cool", "Pour it away", next={Outcome.OK: None}),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model.types import Outcome
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "when-without-route"
SEVERITY: Severity = "error"
VALUE = "outcome"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per text that is never printed; a step without any route is a dead end, and told as one."""
    for at, step in enumerate(graph.steps):
        for outcome in step.when if step.next else ():
            if outcome in step.next:
                continue
            do = f"add Outcome.{outcome.name}: ... to its next, or delete the text"
            if Outcome.DEFAULT in step.next:
                do = f"put the text under Outcome.DEFAULT, or add Outcome.{outcome.name}: ... to its next"
            yield graph.finding(
                RULE,
                SEVERITY,
                f"{step.id} says when {outcome.value} is right, and has no route for it",
                why="the text stands beside a route where it is printed: without one it is lost",
                do=do,
                step=at,
                outcome=outcome,
                value=outcome.value,
            )
