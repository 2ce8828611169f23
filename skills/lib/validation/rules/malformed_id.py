"""The id of a step cannot be used as one.

## What it does
Reports an id that is not a letter followed by letters, digits, `-` and `_`, at most 64 characters in all. Ids of
digits alone have a rule of their own.

## Why it is bad
An id stands in printed commands, in `needs` as `step.field` and in diagrams; a space or a dot breaks one of them.

## Example
```python
WORKFLOW = Workflow("tea", StepDef("boil water", "Boil water", next={Outcome.OK: None}))
```

## Use instead
```python
WORKFLOW = Workflow("tea", StepDef("boil-water", "Boil water", next={Outcome.OK: None}))
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "malformed-id"
SEVERITY: Severity = "error"


_ID = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per id of another form."""
    for at, step in enumerate(graph.steps):
        if isinstance(step.id, str) and (_ID.fullmatch(step.id) or (step.id.isdecimal() and step.id)):
            continue
        yield graph.finding(
            RULE,
            SEVERITY,
            f"{step.id!r} is not an id for a step",
            why="it stands in printed commands, in needs as step.field and in diagrams",
            do="use a letter, then letters, digits, - and _, at most 64 characters",
            step=at,
        )
