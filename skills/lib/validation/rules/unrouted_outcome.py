"""An outcome that a step gives has no route.

## What it does
Reports an outcome that is declared in `outcomes`, or that a Dispatch or Gate gives in any case, and that has
neither a route nor a DEFAULT to cover it.

## Why it is bad
A run that ends the step with it stops there: the skill is broken at that point.

## Example
```python
def weigh(ctx):
    return Outcome.SKIP if ctx.iteration > 1 else Outcome.OK


WORKFLOW = Workflow(
    "tea",
    StepDef("weigh", "Weigh the leaves", next={Outcome.OK: None}, handler=weigh, outcomes=("ok", "skip")),
)
```

## Use instead
```python
def weigh(ctx):
    return Outcome.SKIP if ctx.iteration > 1 else Outcome.OK


WORKFLOW = Workflow(
    "tea",
    StepDef(
        "weigh", "Weigh the leaves", next={Outcome.OK: None, Outcome.SKIP: None}, handler=weigh, outcomes=("ok", "skip")
    ),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model.types import Outcome
from skills.lib.validation import outcomes
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "unrouted-outcome"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per outcome without a way out."""
    for at, step in enumerate(graph.steps):
        if step.handler is None and not step.outcomes:
            continue
        for outcome in outcomes.certain(step) if step.next else ():
            turned = outcome is Outcome.ITERATE and step.max_iterations == 1 and outcomes.is_limited(step)
            if outcome is Outcome.DEFAULT or turned or step.route(outcome) is not None:
                continue
            listed = outcomes.listed(tuple(step.next))
            yield graph.finding(
                RULE,
                SEVERITY,
                f"{step.id} can end with {outcome.value}, which has no route; it has {listed}",
                why="a run that ends the step so stops there with an error",
                do=f"add Outcome.{outcome.name}: ... to its next, or a DEFAULT route",
                step=at,
                outcome=outcome,
            )
