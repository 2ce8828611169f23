"""The agent chooses among routes, and nothing says when one is right.

## What it does
Reports a step without a handler that has several routes, one of which has no `when`.

## Why it is bad
The agent reports how such a step ended. Where it is told only the names of the outcomes it has to guess what they mean.

## Example
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("taste", "Taste it", next={Outcome.OK: None, Outcome.SKIP: "sweeten"}),
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
        next={Outcome.OK: None, Outcome.SKIP: "sweeten"},
        when={Outcome.OK: "it is good as it is", Outcome.SKIP: "it is bitter"},
    ),
    StepDef("sweeten", "Add honey", next={Outcome.OK: None}),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.blocks.document import reports_outcome
from skills.lib.validation import outcomes
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "route-without-when"
SEVERITY: Severity = "warning"
VALUE = "outcomes"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per step at which the agent has to guess."""
    for at, step in enumerate(graph.steps):
        if not reports_outcome(step):
            continue
        untold = [outcome for outcome in step.next if not step.when.get(outcome, "").strip()]
        if untold:
            yield graph.finding(
                RULE,
                SEVERITY,
                f"the agent says how {step.id} ended, and when has no words for {outcomes.listed(tuple(untold))}",
                why="it has to guess by the name alone what is meant",
                do=f'say it: when={{Outcome.{untold[0].name}: "…"}}',
                step=at,
                value=",".join(untold),
            )
