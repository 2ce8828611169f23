"""A Dispatch names a script that does not exist.

## What it does
Reports a Dispatch whose `script` is no file; it is looked for from the folder of the file that registers the workflow.

## Why it is bad
The step prints commands that no sub-agent can run.

## Example
```python
WORKFLOW = Workflow(
    "survey",
    StepDef("explore", "Explore", next={Outcome.OK: None}, handler=Dispatch(AgentRole.EXPLORE, script="exlore.py")),
)
```

## Use instead
```python
# beside this file stands explore.py
WORKFLOW = Workflow(
    "survey",
    StepDef("explore", "Explore", next={Outcome.OK: None}, handler=Dispatch(AgentRole.EXPLORE, script="explore.py")),
)
```
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from skills.lib.model.types import Dispatch
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.nearest import Nearest, did_you_mean
from skills.lib.validation.view import GraphView

RULE = "unresolved-script"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per script that is not there."""
    folder = os.path.dirname(graph.file)
    for at, step in enumerate(graph.steps):
        script = step.handler.script if isinstance(step.handler, Dispatch) else None
        if not script:
            continue
        path = os.path.normpath(os.path.join(folder, script))
        if os.path.isfile(path):
            continue
        around = os.path.dirname(path)
        names = sorted(name for name in os.listdir(around) if name.endswith(".py")) if os.path.isdir(around) else []
        near = Nearest(names).to(os.path.basename(path))
        yield graph.finding(
            RULE,
            SEVERITY,
            f"{step.id} dispatches the script {script}, which does not exist{did_you_mean(near)}",
            why="the step prints commands that no sub-agent can run",
            do=f"name {near}" if near else "write the script, or name one relative to this workflow's file",
            step=at,
        )
