"""A resource that is asked for does not exist.

## What it does
Reports a call of `read_resource` with a literal name that the skill's `resources` folder does not have, and a call of
`read_prompts` beside which no prompts file stands.

## Why it is bad
The call raises an error when the module is loaded or the text is made: the skill cannot run.

## Example
```python
GUIDE = read_resource(__file__, "giude.md")
WORKFLOW = Workflow("tidy", StepDef("tidy", "Tidy up", [GUIDE], next={Outcome.OK: None}))
```

## Use instead
```python
# resources/guide.md stands in the skill's folder
GUIDE = read_resource(__file__, "guide.md")
WORKFLOW = Workflow("tidy", StepDef("tidy", "Tidy up", [GUIDE], next={Outcome.OK: None}))
```
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial

from skills.lib.errors import LockstepError
from skills.lib.prompts import read_prompts, read_resource
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "unresolved-resource"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per call that finds nothing."""
    for call in graph.lines.calls_of("read_resource"):
        given = call.args[1] if len(call.args) > 1 else None
        if isinstance(given, ast.Constant) and isinstance(given.value, str):
            yield from _look(
                graph, call, f"the resource {given.value}", partial(read_resource, graph.file, given.value)
            )
    for call in graph.lines.calls_of("read_prompts"):
        yield from _look(graph, call, "the prompts file", partial(read_prompts, graph.file))


def _look(graph: GraphView, call: ast.Call, what: str, read: Callable[[], object]) -> Iterator[Finding]:
    try:
        read()
    except LockstepError as error:
        yield graph.finding(
            RULE,
            SEVERITY,
            f"{what} cannot be had: {error.what}",
            why="the call raises an error and the skill cannot run",
            do=error.remedy or "write the file, or name the one that is meant",
            line=call.lineno,
        )
