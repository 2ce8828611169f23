"""A step does not say what to do.

## What it does
Reports a step whose `actions` (or `repeat`) are blank, and one that has none if half of the workflow's steps have some.
Steps at which a Dispatch, a Gate or a Person does the work are excepted.

## Why it is bad
The block has a title and nothing under it, and the agent makes something up.

## Example
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("boil", "Boil water", "Boil half a litre.", {Outcome.OK: "steep"}),
    StepDef("steep", "Let it steep", "", {Outcome.OK: None}),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("boil", "Boil water", "Boil half a litre.", {Outcome.OK: "steep"}),
    StepDef("steep", "Let it steep", "Wait for three minutes.", {Outcome.OK: None}),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skills.lib.model.types import Dispatch, Gate, Person
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "empty-actions"
SEVERITY: Severity = "warning"
VALUE = "texts"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per step, or per text of its later entries, that says nothing."""
    silent: list[tuple[int, str]] = []
    working = spoken = 0
    for at, step in enumerate(graph.steps):
        if isinstance(step.handler, (Dispatch, Gate, Person)):
            continue
        working += 1
        if _says(step.actions):
            spoken += 1
        else:
            silent.append((at, "actions"))
        if step.repeat and not _says(step.repeat):
            silent.append((at, "repeat"))
    for at, name in silent:
        if name == "repeat" or graph.steps[at].actions or spoken * 2 >= working:
            yield graph.finding(
                RULE,
                SEVERITY,
                f"the {name} of {graph.name(at)} say nothing",
                why="the block has a title and nothing under it, and the agent makes something up",
                do="say what is to be done, or take the step out of the graph",
                step=at,
                value=name,
            )


def _says(texts: Sequence[str]) -> bool:
    return bool("".join(texts).strip())
