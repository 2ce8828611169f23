"""A dispatch goes over what is no list.

## What it does
Reports a Dispatch whose `targets` name a recorded value that is declared as a text, a number, or true or false.

## Why it is bad
One sub-agent is started per entry of a list: the step can never be entered.

## Example
```python
WORKFLOW = Workflow(
    "survey",
    StepDef("scope", "Scope", "Name the areas.", {Outcome.OK: "explore"}, requires=[Field("areas")]),
    StepDef(
        "explore",
        "Explore",
        "Wait for them.",
        {Outcome.OK: None},
        Dispatch(AgentRole.EXPLORE, task="Explore {target}.", targets="scope.areas"),
    ),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "survey",
    StepDef("scope", "Scope", "Name the areas.", {Outcome.OK: "explore"}, requires=[Field("areas", "list", minimum=1)]),
    StepDef(
        "explore",
        "Explore",
        "Wait for them.",
        {Outcome.OK: None},
        Dispatch(AgentRole.EXPLORE, task="Explore {target}.", targets="scope.areas"),
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

RULE = "unusable-targets"
SEVERITY: Severity = "error"
_LISTS = ("list", "items", "json")


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per dispatch over a value that is no list."""
    for at, step in enumerate(graph.steps):
        targets = step.handler.targets if isinstance(step.handler, Dispatch) else None
        spec = source_of(graph, targets) if isinstance(targets, str) and targets else None
        if spec is not None and spec.type not in _LISTS:
            yield graph.finding(
                RULE,
                SEVERITY,
                f"{step.id} starts one sub-agent per entry of {targets}, which is of type {spec.type}",
                why="only a list has entries: the command that leads to the step is refused",
                do=f'declare it as a list: Field("{spec.name}", "list")',
                step=at,
            )
