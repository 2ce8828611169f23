"""The id of a step is a number.

## What it does
Reports an id of digits alone.

## Why it is bad
`--step 3` means the third step of the workflow: an id of digits could mean another one.

## Example
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("2", "Boil water", next={Outcome.OK: "steep"}),
    StepDef("steep", "Let it steep", next={Outcome.OK: None}),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("boil", "Boil water", next={Outcome.OK: "steep"}),
    StepDef("steep", "Let it steep", next={Outcome.OK: None}),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "numeric-id"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per id of digits alone."""
    for at, step in enumerate(graph.steps):
        if isinstance(step.id, str) and step.id.isdecimal():
            yield graph.finding(
                RULE,
                SEVERITY,
                f"the id {step.id} is a number",
                why=f"--step {step.id} means the step at position {step.id}, whatever its id is",
                do=f"name it after what it does, or write step{step.id}",
                step=at,
            )
