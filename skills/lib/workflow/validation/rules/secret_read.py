"""A step reads a value that is never kept.

## What it does
Reports an entry of `needs` and a `{placeholder}` that read a value whose name says that it is a secret: `password`,
`token`, `api_key` and the like, alone or within a longer name. What a step itself reports may stand in its own Artifact
and Command.

## Why it is bad
Such a value is used for the one transition, and a note stands in its place afterwards: the block, the sub-agent or the
command gets the note.

## Example
```python
WORKFLOW = Workflow(
    "grammar",
    StepDef("split", "Split the text", next={Outcome.OK: "look-up"}, requires=[Field("tokens", "list")]),
    StepDef("look-up", "Look each up", next={Outcome.OK: None}, needs=["split.tokens"]),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "grammar",
    StepDef("split", "Split the text", next={Outcome.OK: "look-up"}, requires=[Field("words", "list")]),
    StepDef("look-up", "Look each up", next={Outcome.OK: None}, needs=["split.words"]),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.workflow.types import Dispatch
from skills.lib.workflow.validation.finding import Finding, Severity
from skills.lib.workflow.validation.graph import GraphView
from skills.lib.workflow.validation.state_flow import TARGETS, Read, placeholders
from skills.lib.workflow.validation.unkept import unkept
from skills.lib.workflow.values import NOT_KEPT

RULE = "secret-read"
SEVERITY: Severity = "warning"
VALUE = "key"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per step and value."""
    told: set[tuple[int, str]] = set()
    reads = [read for read in graph.flow.reads if read.source != TARGETS]
    for read, word in unkept(graph, [*reads, *_texts(graph)]):
        if (read.step, read.key) in told:
            continue
        told.add((read.step, read.key))
        yield graph.finding(
            RULE,
            SEVERITY,
            f"{graph.name(read.step)} reads {read.key} ({read.source}), which is named like a secret ({word})",
            why=f"such a value is never kept: what is read is the note {NOT_KEPT}",
            do="give it another name if it is no secret; else have it reported anew where it is used",
            step=read.step,
            value=read.key,
        )


def _texts(graph: GraphView) -> Iterator[Read]:
    """What the texts for sub-agents name in braces."""
    for at, step in graph.distinct:
        if isinstance(step.handler, Dispatch):
            for name in placeholders((step.handler.task, *step.handler.tasks, step.handler.context)):
                yield Read(at, name, "the texts of its Dispatch", "entering")
