"""A command cannot fail.

## What it does
Reports a Command that ends with 0 whatever was done: `true`, `:`, `echo` and the like, alone or as what a shell's
script comes down to (`… || true`).

## Why it is bad
It looks like evidence and is none: the step is left as if nothing had been asked.

## Example
```python
WORKFLOW = Workflow("build", StepDef("test", "Test", "Run them.", {Outcome.OK: None}, requires=[Command(["true"])]))
```

## Use instead
```python
WORKFLOW = Workflow(
    "build", StepDef("test", "Test", "Run them.", {Outcome.OK: None}, requires=[Command(["make", "test"])])
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model.requirements import Command
from skills.lib.passing import always_passes
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "always-passing-command"
SEVERITY: Severity = "warning"
VALUE = "command"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per command that proves nothing."""
    for at, step in enumerate(graph.steps):
        for spec in step.requires:
            if isinstance(spec, Command) and always_passes(spec.argv):
                command = " ".join(spec.argv)
                yield graph.finding(
                    RULE,
                    SEVERITY,
                    f"{step.id} is left when {command} ends with 0, and that it always does",
                    why="it looks like evidence and is none",
                    do="name a command that fails if the work is not done, or leave it out",
                    step=at,
                    value=command,
                )
