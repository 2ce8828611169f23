"""A workflow's module calls a bare gate formatter.

## What it does
Reports a call of `format_gate_step` in the file that registers the workflow.

## Why it is bad
A bare formatter prints what it is told: no run, no turn, no verdict from the ledger. A workflow's gate is built by the
engine.

## Example
```python
WORKFLOW = Workflow("change", StepDef("work", "Make the change", next={Outcome.OK: None}))


def gate(qr, config):
    return format_gate_step("change.py", 2, 2, "Gate", qr, config)
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

from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "bare-gate-call"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per call."""
    for call in graph.lines.calls_of("format_gate_step"):
        yield graph.finding(
            RULE,
            SEVERITY,
            "format_gate_step is called in the file of a registered workflow",
            why="what it prints carries no run and no verdict, so it can be passed by saying so",
            do="make the gate a step: handler=Gate(checkpoint), or build the loop with review_loop()",
            line=call.lineno,
        )
