"""Two ids differ only in upper and lower case.

## What it does
Reports a step whose id is that of an earlier step but for its case.

## Why it is bad
Agents retype ids, and some files and diagrams do not tell case apart: one step is taken for the other.

## Example
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("steep", "Let it steep", next={Outcome.OK: "Steep"}),
    StepDef("Steep", "Let it steep again", next={Outcome.OK: None}),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("steep", "Let it steep", next={Outcome.OK: "steep-again"}),
    StepDef("steep-again", "Let it steep again", next={Outcome.OK: None}),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "colliding-id"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per id after the first of the same letters."""
    folded: dict[str, str] = {}
    for step_id, at in graph.index.items():
        first = folded.setdefault(str(step_id).lower(), str(step_id))
        if first != step_id and isinstance(step_id, str):
            yield graph.finding(
                RULE,
                SEVERITY,
                f"the ids {step_id} and {first} differ only in upper and lower case",
                why="whoever retypes one, or a file system that ignores case, takes one step for the other",
                do="give one of them another name",
                step=at,
            )
