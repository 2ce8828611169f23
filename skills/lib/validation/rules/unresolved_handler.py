"""A handler cannot be found by its name.

## What it does
Reports a handler that is not a function of a module: a lambda, a function inside a function, a partial call, or one
that its module does not have under its name.

## Why it is bad
A workflow is data, and its handlers stand in it as `module:name`. Two lambdas have the same name, so the graph's
fingerprint does not tell them apart, and the workflow cannot be built from its data.

## Example
```python
WORKFLOW = Workflow(
    "tea", StepDef("weigh", "Weigh the leaves", next={Outcome.OK: None}, handler=lambda ctx: Outcome.OK)
)
```

## Use instead
```python
def weigh(ctx):
    return Outcome.OK


WORKFLOW = Workflow("tea", StepDef("weigh", "Weigh the leaves", next={Outcome.OK: None}, handler=weigh))
```
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "unresolved-handler"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per handler without a name of its own."""
    for at, step in enumerate(graph.steps):
        targets = getattr(step.handler, "targets", None)
        for function in (step.function, targets):
            if not callable(function) or _resolves(function):
                continue
            module = getattr(function, "__module__", "?")
            name = getattr(function, "__qualname__", type(function).__name__)
            yield graph.finding(
                RULE,
                SEVERITY,
                f"the handler of {step.id}, {module}:{name}, cannot be found by that name",
                why="a workflow is data, and its handlers stand in it by name",
                do="make it a function of the module, with def at the left margin",
                step=at,
            )


def _resolves(handler: object) -> bool:
    module, name = getattr(handler, "__module__", None), getattr(handler, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return False
    found: object = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is not None
