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

import os
import re
from collections.abc import Iterator, Sequence

from skills.lib.workflow.requirements import Command
from skills.lib.workflow.validation.finding import Finding, Severity
from skills.lib.workflow.validation.graph import GraphView

RULE = "always-passing-command"
SEVERITY: Severity = "warning"
VALUE = "command"
_PASSING = frozenset(": clear date echo hostname id nproc printf pwd sleep true uname uptime whoami".split())
_SHELLS = frozenset("bash dash ksh sh zsh".split())
_PYTHON = re.compile(r"python[\d.]*(?:\.exe)?")
# The last command of a shell's script, after what parts it from the one before; && hands a failure on.
_LAST = re.compile(r"(?:.*(?:;|\|\||\n|(?<!\|)\|(?!\|)))?\s*(.*)", re.DOTALL)


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per command that proves nothing."""
    for at, step in enumerate(graph.steps):
        for spec in step.requires:
            if isinstance(spec, Command) and _passes(spec.argv):
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


def _passes(argv: Sequence[str]) -> bool:
    program = os.path.basename(argv[0])
    if program in _SHELLS and len(argv) == 3 and argv[1].endswith("c"):
        found = _LAST.fullmatch(argv[2].rstrip().rstrip(";"))
        words = found[1].split() if found else []
        return "&&" not in words and (words == ["exit", "0"] or (bool(words) and words[0] in _PASSING))
    if _PYTHON.fullmatch(program) and argv[1:2] == ("-c",):
        return len(argv) == 3 and argv[2].strip() in ("", "pass")
    return program in _PASSING
