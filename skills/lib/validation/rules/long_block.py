"""The block of a step is too long to be printed whole.

## What it does
Reports a step whose block would pass 10,000 characters, estimated from its actions (and from `repeat`, apart), what
it asks to record, its routes and what is forbidden. Values that it needs are not counted.

## Why it is bad
Agent hosts cut longer output, and what is cut is the end: the command that goes on.

## Example
```python
WORKFLOW = Workflow("tea", StepDef("boil", "Boil water", ["All about water. " * 700], next={Outcome.OK: None}))
```

## Use instead
```python
WORKFLOW = Workflow("tea", StepDef("boil", "Boil water", ["Read resources/water.md."], next={Outcome.OK: None}))
```
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skills.lib.model.requirements import Arg
from skills.lib.model.steps import StepDef
from skills.lib.model.types import Dispatch, Person, Rendered
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "long-block"
SEVERITY: Severity = "error"
VALUE = "texts"


LIMIT = 10_000
# What stands around the content, measured on printed blocks: the frame with its command, a thing to record, a route.
FRAME, RECORD, ROUTE, CHILD = 1_400, 180, 110, 260


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per block that is too long."""
    params: dict[str | None, list[Arg]] = {}
    for arg in graph.workflow.params:
        params.setdefault(arg.step, []).append(arg)
    everywhere = sum(_length(rule) + 20 for rule in graph.workflow.forbidden)
    for at, step in enumerate(graph.steps):
        if step.id not in params and _is_short(step) and not everywhere:
            continue
        around = everywhere + _around(step, params.get(step.id, []))
        for name, texts in (("actions", step.actions), ("repeat", step.repeat)):
            size = around + sum(_length(text) + 1 for text in texts)
            if size > LIMIT:
                yield graph.finding(
                    RULE,
                    SEVERITY,
                    f"the block of {step.id} with its {name} has about {size:,} characters, more than {LIMIT:,}",
                    why="hosts cut what is longer, and with it the command that goes on",
                    do="move reference text to a file that the step tells the agent to read, or split the step",
                    step=at,
                    value=name,
                )


def _around(step: StepDef, params: Sequence[Arg]) -> int:
    """About how many characters of the block are not its actions."""
    size = FRAME + len(step.title)
    size += sum(_length(rule) + 20 for rule in step.forbidden)
    size += sum(RECORD + _length(spec.help) for spec in (*step.requires, *params))
    size += sum(ROUTE + _length(step.when.get(outcome, "")) for outcome in step.next)
    if isinstance(step.handler, Dispatch):
        targets = step.handler.targets
        fixed = targets if isinstance(targets, tuple) else ()
        size += CHILD * max(1, len(step.handler.tasks), len(fixed))
    elif isinstance(step.handler, Person):
        size += _length(step.handler.question)
    return size


def _is_short(step: StepDef) -> bool:
    """Whether the block is so small that nothing need be counted: most are."""
    if step.requires or step.forbidden or step.when or step.handler is not None:
        return False
    return sum(map(len, step.actions)) + sum(map(len, step.repeat)) + len(step.title) < 1_000


def _length(text: str) -> int:
    """The length once it is escaped; a block stands as it is."""
    if isinstance(text, Rendered):
        return len(text)
    return len(text) + 4 * text.count("&") + 3 * (text.count("<") + text.count(">"))
