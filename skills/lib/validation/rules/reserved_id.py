"""The id of a step is a word of the step command.

## What it does
Reports `next`, `done`, `current`, `end`, `none` and `null` as ids, in any case.

## Why it is bad
`--step next` and `--step done` say how to go on and documents name the end by a word: a step
of such a name cannot be asked for.

## Example
```python
WORKFLOW = Workflow("tea", StepDef("done", "Drink it", next={Outcome.OK: None}))
```

## Use instead
```python
WORKFLOW = Workflow("tea", StepDef("drink", "Drink it", next={Outcome.OK: None}))
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "reserved-id"
SEVERITY: Severity = "error"


RESERVED = frozenset(("next", "done", "current", "end", "none", "null"))


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per reserved id."""
    for at, step in enumerate(graph.steps):
        if isinstance(step.id, str) and step.id.lower() in RESERVED:
            yield graph.finding(
                RULE,
                SEVERITY,
                f"the id {step.id} is reserved",
                why=f"--step {step.id.lower()} and the word in documents mean something else than this step",
                do=f"choose another id; reserved are {', '.join(sorted(RESERVED))}",
                step=at,
            )
