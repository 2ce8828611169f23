"""A route is for an outcome that the handler never returns.

## What it does
Reports a route for an outcome that the source of the step's handler never returns, where every return is written
out; and a DEFAULT route that nothing is left for.

## Why it is bad
Either the route is left over, or a return was forgotten, and a branch of the graph is never walked.

## Example
```python
def plan(ctx):
    return Outcome.OK if ctx.workflow_params["mode"] == "full" else Outcome.SKIP


WORKFLOW = Workflow(
    "inquiry",
    StepDef(
        "plan",
        "Plan",
        next={Outcome.OK: "design", Outcome.SKIP: None, Outcome.ITERATE: "plan"},
        handler=plan,
        max_iterations=3,
    ),
    StepDef("design", "Design", next={Outcome.OK: None}),
    params=[Arg("mode", choices=("quick", "full"))],
)
```

## Use instead
```python
def plan(ctx):
    return Outcome.OK if ctx.workflow_params["mode"] == "full" else Outcome.SKIP


WORKFLOW = Workflow(
    "inquiry",
    StepDef("plan", "Plan", next={Outcome.OK: "design", Outcome.SKIP: None}, handler=plan),
    StepDef("design", "Design", next={Outcome.OK: None}),
    params=[Arg("mode", choices=("quick", "full"))],
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model.types import Outcome
from skills.lib.validation import outcomes
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "handler-never-gives"
SEVERITY: Severity = "error"
VALUE = "outcome"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per route that the handler leaves nothing for."""
    for at, source in graph.handlers.by_step.items():
        step = graph.steps[at]
        returned = source.annotated if source.annotated is not None else source.outcomes
        if step.outcomes or returned is None:
            continue
        can = outcomes.with_skip(step, outcomes.with_limit(step, returned))
        for outcome, target in step.next.items():
            if outcome is Outcome.DEFAULT:
                if len(step.next) == 1 or can - set(step.next):
                    continue
            elif outcome in can:
                continue
            yield graph.finding(
                RULE,
                SEVERITY,
                f"{step.id} -{outcome.value}-> {target or 'end'} is never taken: its handler returns"
                f" {outcomes.listed(returned)}",
                why="this branch of the graph is never walked",
                do="delete the route, or return the outcome where it is meant",
                step=at,
                outcome=outcome,
                value=outcome.value,
            )
