"""A step reads a value that is never kept.

## What it does
Reports an entry of `needs` and a `{placeholder}`, of `closing` too, that read a value whose name says that it is a
secret: `password`, `token`, `api_key` and the like, alone or within a longer name. What a step itself reports may stand
in its own Artifact and Command.

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

from skills.lib.model.values import NOT_KEPT, is_secret
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.state_flow import TARGETS, placeholders
from skills.lib.validation.unkept import unkept
from skills.lib.validation.view import GraphView

RULE = "secret-read"
SEVERITY: Severity = "warning"
VALUE = "key"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per step and value."""
    told: set[tuple[int, str]] = set()
    reads = [read for read in graph.flow.reads if read.source != TARGETS]
    for read, word in unkept(graph, reads):
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
    for name in placeholders((graph.workflow.closing,)):
        if name in graph.flow.run_params and is_secret(name):
            yield graph.finding(
                RULE,
                SEVERITY,
                f"closing names the parameter {name}, which is named like a secret",
                why=f"such a value is never kept: what is printed is the note {NOT_KEPT}",
                do="give it another name if it is no secret; else leave it out of closing",
                value=name,
            )
