"""The actions of a step hold a gate built by a bare formatter.

## What it does
Reports the output of `format_gate_step`, or another gate in XML, among `actions` or `repeat`.

## Why it is bad
A bare formatter prints what it is told: no run, no turn, no verdict from the ledger. Who follows it passes a gate that
nobody guards.

## Example
```python
WORKFLOW = Workflow(
    "change",
    StepDef("work", "Make the change", [Rendered('<gate name="change">go on</gate>')], next={Outcome.OK: None}),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "change",
    StepDef("work", "Make the change", next={Outcome.OK: "review"}),
    StepDef(
        "review",
        "Review the change",
        next={Outcome.OK: None, Outcome.FAIL: "work"},
        handler=Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it."),
    ),
)
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skills.lib.model.types import Rendered
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "bare-gate"
SEVERITY: Severity = "error"


_GATE = re.compile(r"<gate[\s>/]|<step\s[^>]*\sgate=")


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per step with a printed gate."""
    for at, step in enumerate(graph.steps):
        if any(isinstance(text, Rendered) and _GATE.search(text) for text in (*step.actions, *step.repeat)):
            yield graph.finding(
                RULE,
                SEVERITY,
                f"the actions of {step.id} hold a gate that a bare formatter printed",
                why="it carries no run and no verdict, so it can be passed by saying so",
                do="make the gate a step: handler=Gate(checkpoint), or build the loop with review_loop()",
                step=at,
            )
