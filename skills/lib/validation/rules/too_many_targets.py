"""A dispatch starts more sub-agents than its cap admits.

## What it does
Reports a Dispatch with more `targets` or `tasks` written out than its `cap`, and one whose targets are a recorded list
that must have more entries than that.

## Why it is bad
The step can never be entered: the command that leads there is refused.

## Example
```python
WORKFLOW = Workflow(
    "survey",
    StepDef(
        "explore",
        "Explore",
        "Wait for them.",
        {Outcome.OK: None},
        Dispatch(AgentRole.EXPLORE, task="Explore {target}.", targets=["code", "tests", "documents"], cap=2),
    ),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "survey",
    StepDef(
        "explore",
        "Explore",
        "Wait for them.",
        {Outcome.OK: None},
        Dispatch(AgentRole.EXPLORE, task="Explore {target}.", targets=["code", "tests", "documents"], cap=3),
    ),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model.types import Dispatch
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.templates import source_of
from skills.lib.validation.view import GraphView

RULE = "too-many-targets"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per dispatch that is always refused."""
    for at, step in enumerate(graph.steps):
        if not isinstance(step.handler, Dispatch):
            continue
        count, what = _least(graph, step.handler)
        if count > step.handler.cap:
            yield graph.finding(
                RULE,
                SEVERITY,
                f"{step.id} starts {count} sub-agents{what}, and its cap is {step.handler.cap}",
                why="the command that leads to the step is refused, so no run ever enters it",
                do=f"set cap={count}, or start fewer",
                step=at,
            )


def _least(graph: GraphView, dispatch: Dispatch) -> tuple[int, str]:
    """How many sub-agents are started at least, and what says so."""
    if dispatch.tasks:
        return len(dispatch.tasks), ""
    if not isinstance(dispatch.targets, str):
        return (0 if callable(dispatch.targets) else len(dispatch.targets)), ""
    spec = source_of(graph, dispatch.targets)
    least = spec.minimum if spec and spec.type == "list" and spec.required else None
    return int(least or 0), f", for {dispatch.targets} has at least {least:g} entries" if least else ""
