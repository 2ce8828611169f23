"""A convention that is asked for does not exist.

## What it does
Reports a call of `get_convention` with a literal name that the conventions folder does not have.

## Why it is bad
The call raises an error when the module is loaded or the text is made: the skill cannot run.

## Example
```python
RULES = get_convention("strutural")
WORKFLOW = Workflow("tidy", StepDef("tidy", "Tidy up", [RULES], next={Outcome.OK: None}))
```

## Use instead
```python
RULES = get_convention("structural")
WORKFLOW = Workflow("tidy", StepDef("tidy", "Tidy up", [RULES], next={Outcome.OK: None}))
```
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from skills.lib.conventions import convention_names
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.nearest import Nearest, did_you_mean
from skills.lib.validation.view import GraphView

RULE = "unresolved-convention"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per call that finds nothing."""
    names = convention_names()
    for call in graph.lines.calls_of("get_convention"):
        given = call.args[0] if call.args else None
        if not isinstance(given, ast.Constant) or not isinstance(given.value, str):
            continue
        if given.value.removesuffix(".md") in names:
            continue
        near = Nearest(names).to(given.value)
        yield graph.finding(
            RULE,
            SEVERITY,
            f"there is no convention {given.value!r}{did_you_mean(near)}",
            why="get_convention raises an error and the skill cannot run",
            do=f"ask for {near}" if near else f"ask for one of: {', '.join(names) or 'none, the folder is missing'}",
            line=call.lineno,
        )
