"""A handler reads what not every path has written.

## What it does
Reads the sources of handlers, and reports `ctx.run_state["step"]["x"]` where a path comes to the handler's step
without passing that step. Reads by `get` bear a missing value and are not reported.

## Why it is bad
On that path the handler raises KeyError, and the run cannot go on.

## Example
```python
def report(ctx):
    return Outcome.OK if ctx.run_state["design"]["shape"] else Outcome.SKIP


WORKFLOW = Workflow(
    "inquiry",
    StepDef(
        "plan",
        "Plan",
        next={Outcome.OK: "design", Outcome.SKIP: "report"},
        when={Outcome.OK: "there is something to design", Outcome.SKIP: "there is not"},
    ),
    StepDef("design", "Design", next={Outcome.OK: "report"}, requires=[Field("shape")]),
    StepDef("report", "Report", next={Outcome.OK: None, Outcome.SKIP: None}, handler=report),
)
```

## Use instead
```python
def report(ctx):
    return Outcome.OK if ctx.run_state.get("design", {}).get("shape") else Outcome.SKIP


WORKFLOW = Workflow(
    "inquiry",
    StepDef(
        "plan",
        "Plan",
        next={Outcome.OK: "design", Outcome.SKIP: "report"},
        when={Outcome.OK: "there is something to design", Outcome.SKIP: "there is not"},
    ),
    StepDef("design", "Design", next={Outcome.OK: "report"}, requires=[Field("shape")]),
    StepDef("report", "Report", next={Outcome.OK: None, Outcome.SKIP: None}, handler=report),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.handler_reads import strict_reads
from skills.lib.validation.view import GraphView

RULE = "handler-read-on-some-paths"
SEVERITY: Severity = "warning"
VALUE = "key"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per read that a path bypasses."""
    for read, writer in graph.source_flow.missed(strict_reads(graph)):
        reader = read.step
        way = graph.example(graph.start, lambda node, reader=reader: node == reader, avoid=(writer,))  # type: ignore[misc]
        yield graph.finding(
            RULE,
            SEVERITY,
            f"the handler of {graph.name(reader)} reads {read.source}, and a path comes there without it"
            + (f": {way}" if way else ""),
            why="on that path the handler raises KeyError",
            do=f"read it with get(), or lead every path through {graph.name(writer)}",
            step=reader,
            value=read.key,
            file=read.file,
            line=read.line,
        )
