"""The name of a workflow cannot be used as one.

## What it does
Reports a workflow whose name is not made of letters, digits, `-`, `_` and `.`, a letter or digit first, at most 64
characters in all.

## Why it is bad
The name is part of file names, of run records and of printed commands; what it may hold there is bounded.

## Example
```python
WORKFLOW = Workflow("../tea time", StepDef("boil", "Boil water", next={Outcome.OK: None}))
```

## Use instead
```python
WORKFLOW = Workflow("tea-time", StepDef("boil", "Boil water", next={Outcome.OK: None}))
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "malformed-name"
SEVERITY: Severity = "error"


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding for a name of another form."""
    name = graph.workflow.name
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield graph.finding(
            RULE,
            SEVERITY,
            f"{name!r} is not a name for a workflow",
            why="it becomes part of file names, run records and printed commands",
            do="use letters, digits, -, _ and ., a letter or digit first, at most 64 characters: my-skill",
        )
