"""A route is for an outcome that the step never gives.

## What it does
Reports a route for an outcome that what decides the step cannot end with: a Dispatch gives OK, or FAIL where that
has a route; a Gate OK and FAIL; a Person what its choices lead to; a function with declared `outcomes` those.

## Why it is bad
Either the route is left over, or the outcome was forgotten where it should be given, and a branch is never walked.

## Example
```python
WORKFLOW = Workflow(
    "survey",
    StepDef(
        "explore",
        "Explore",
        next={Outcome.OK: None, Outcome.ITERATE: "explore"},
        handler=Dispatch(AgentRole.EXPLORE, task="Explore the module."),
    ),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "survey",
    StepDef(
        "explore",
        "Explore",
        next={Outcome.OK: "weigh"},
        handler=Dispatch(AgentRole.EXPLORE, task="Explore the module."),
    ),
    StepDef(
        "weigh",
        "Weigh what was found",
        next={Outcome.OK: None, Outcome.ITERATE: "explore"},
        when={Outcome.OK: "it is enough", Outcome.ITERATE: "something is missing"},
        max_iterations=3,
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

RULE = "route-never-given"
SEVERITY: Severity = "error"
VALUE = "outcome"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per route for an outcome that is never given."""
    for (at, outcome), why in graph.never_taken.items():
        step = graph.steps[at]
        can = outcomes.possible(step)
        if outcome is Outcome.DEFAULT or can is None or outcome in can:
            continue
        yield graph.finding(
            RULE,
            SEVERITY,
            f"{step.id} -{outcome.value}-> {step.next[outcome] or 'end'} is never taken: {why}",
            why="this branch of the graph is never walked",
            do=f"delete the route, or let {step.id} be decided by something that gives {outcome.value}",
            step=at,
            outcome=outcome,
            value=outcome.value,
        )
