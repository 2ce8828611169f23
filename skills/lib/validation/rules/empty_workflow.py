"""A workflow has no steps.

## What it does
Reports a workflow that was built without a single step.

## Why it is bad
A run of it has nowhere to begin: it can only fail when it is opened.

## Example
```python
WORKFLOW = Workflow("tea")
```

## Use instead
```python
WORKFLOW = Workflow("tea", StepDef("boil", "Boil water", next={Outcome.OK: None}))
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "empty-workflow"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding for a workflow without steps."""
    if not graph.steps:
        yield graph.finding(
            RULE,
            SEVERITY,
            f"the workflow {graph.workflow.name} has no steps",
            why="a run of it has nowhere to begin",
            do="give it at least one StepDef that leads to the end: next={Outcome.OK: None}",
        )
