"""The limit of iterations cannot work.

## What it does
Reports `max_iterations` that is not a whole number of 1 or more, and `at_limit` that is ITERATE or has no route.

## Why it is bad
At the limit the run has nowhere to go, or goes round again as if there were none.

## Example
```python
WORKFLOW = Workflow(
    "inquiry",
    StepDef(
        "investigate",
        "Investigate",
        next={Outcome.SKIP: None, Outcome.ITERATE: "investigate"},
        when={Outcome.SKIP: "there is nothing more to look at", Outcome.ITERATE: "there is"},
        max_iterations=5,
    ),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "inquiry",
    StepDef(
        "investigate",
        "Investigate",
        next={Outcome.SKIP: None, Outcome.ITERATE: "investigate"},
        when={Outcome.SKIP: "there is nothing more to look at", Outcome.ITERATE: "there is"},
        max_iterations=5,
        at_limit=Outcome.SKIP,
    ),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model.types import Outcome
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "iteration-limit"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per limit that cannot work."""
    for at, step in enumerate(graph.steps):
        limit = step.max_iterations
        if limit is None:
            continue
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            what, do = f"max_iterations of {step.id} is {limit!r}", "set it to a whole number of 1 or more"
        elif step.at_limit is Outcome.ITERATE:
            what = f"{step.id} ends with iterate when its {limit} iterations are used up, and goes round again"
            do = "set at_limit to the outcome that leaves the loop, OK for one"
        elif step.next and step.route(step.at_limit) is None and step.route(Outcome.ITERATE) is not None:
            what = f"{step.id} ends with {step.at_limit.value} when its {limit} iterations are used up: it has no route"
            do = f"add Outcome.{step.at_limit.name}: ... to its next, or set at_limit to an outcome that is routed"
        else:
            continue
        yield graph.finding(
            RULE, SEVERITY, what, why="at the limit a run would stop, or go on as if there were none", do=do, step=at
        )
