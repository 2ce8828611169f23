"""A dispatch goes over a list that is never kept.

## What it does
Reports a Dispatch whose `targets` are a recorded list with a name that says that it is a secret: `password`, `token`,
`api_key` and the like, alone or within a longer name.

## Why it is bad
Such a value is used for the one transition and never kept. Whatever is recorded, the dispatch has no target, and the
step cannot be entered.

## Example
```python
WORKFLOW = Workflow(
    "grammar",
    StepDef("split", "Split the text", next={Outcome.OK: "look-up"}, requires=[Field("tokens", "list")]),
    StepDef(
        "look-up",
        "Look each up",
        next={Outcome.OK: None},
        handler=Dispatch(AgentRole.EXPLORE, task="Look {target} up.", targets="split.tokens"),
    ),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "grammar",
    StepDef("split", "Split the text", next={Outcome.OK: "look-up"}, requires=[Field("words", "list")]),
    StepDef(
        "look-up",
        "Look each up",
        next={Outcome.OK: None},
        handler=Dispatch(AgentRole.EXPLORE, task="Look {target} up.", targets="split.words"),
    ),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.state_flow import TARGETS
from skills.lib.validation.unkept import unkept
from skills.lib.validation.view import GraphView

RULE = "secret-targets"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per dispatch over such a list."""
    for read, word in unkept(graph, (read for read in graph.flow.reads if read.source == TARGETS)):
        yield graph.finding(
            RULE,
            SEVERITY,
            f"{graph.name(read.step)} dispatches over {read.key}, which is named like a secret ({word})",
            why="such a value is never kept, so there is never a target",
            do="give the list another name",
            step=read.step,
        )
