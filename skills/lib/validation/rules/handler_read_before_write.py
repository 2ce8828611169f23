"""A handler reads what no path has written.

## What it does
Reads the sources of handlers, and reports `ctx.workflow_params["x"]`, `ctx.step_state["x"]` and
`ctx.run_state["step"]["x"]` where nothing writes that value before; and a read that a step declares of a value that
the handler it names never writes. Reads by `get` bear a missing value and are not reported.

## Why it is bad
The handler raises KeyError when the step is left, and the run cannot go on.

## Example
```python
def settle(ctx):
    return Outcome.OK if ctx.workflow_params["confidence"] == "high" else Outcome.SKIP


WORKFLOW = Workflow(
    "inquiry",
    StepDef("settle", "Settle it", next={Outcome.OK: None, Outcome.SKIP: None}, handler=settle),
)
```

## Use instead
```python
def settle(ctx):
    return Outcome.OK if ctx.workflow_params["confidence"] == "high" else Outcome.SKIP


WORKFLOW = Workflow(
    "inquiry",
    StepDef("settle", "Settle it", next={Outcome.OK: None, Outcome.SKIP: None}, handler=settle),
    params=[Arg("confidence", choices=("low", "high"), step="settle")],
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.handler_reads import strict_reads
from skills.lib.validation.nearest import did_you_mean
from skills.lib.validation.view import GraphView

RULE = "handler-read-before-write"
SEVERITY: Severity = "error"
VALUE = "key"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per read of what cannot be there."""
    if not graph.handlers.by_step:
        return
    told = {found.read for found in graph.flow.unwritten(graph.flow.reads)}
    declared = [read for read in graph.flow.reads if read not in told]
    for found in graph.source_flow.unwritten([*declared, *strict_reads(graph)]):
        read = found.read
        yield graph.finding(
            RULE,
            SEVERITY,
            f"{graph.name(read.step)} reads {read.key} ({read.source}): {found.why}{did_you_mean(found.near)}",
            why="the handler raises KeyError, or the step is printed without the value",
            do=f"read {found.near}" if found.near else "declare the value where it is reported, or read it with get()",
            step=read.step,
            value=read.key,
            file=read.file,
            line=read.line,
        )
