"""A step reads what not every path has written.

## What it does
Reports a read of a value that one path to the step writes and another does not, with the path that does not. A
value that a loop brings back to a step before its writer is not reported, if the step is also listed before the writer:
it is meant to be missing the first time.

## Why it is bad
On that path the step is printed without the value, and the agent has to guess.

## Example
```python
WORKFLOW = Workflow(
    "inquiry",
    StepDef(
        "plan",
        "Plan",
        next={Outcome.OK: "design", Outcome.SKIP: "report"},
        when={Outcome.OK: "there is something to design", Outcome.SKIP: "there is not"},
    ),
    StepDef("design", "Design", next={Outcome.OK: "report"}, requires=[Field("shape")]),
    StepDef("report", "Report", next={Outcome.OK: None}, needs=["design.shape"]),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "inquiry",
    StepDef(
        "plan",
        "Plan",
        next={Outcome.OK: "design", Outcome.SKIP: "brief"},
        requires=[Field("aim")],
        when={Outcome.OK: "there is something to design", Outcome.SKIP: "there is not"},
    ),
    StepDef("design", "Design", next={Outcome.OK: "report"}, requires=[Field("shape")]),
    StepDef("report", "Report on the design", next={Outcome.OK: None}, needs=["design.shape"]),
    StepDef("brief", "Report in brief", next={Outcome.OK: None}, needs=["plan.aim"]),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity, allow_key
from skills.lib.validation.view import GraphView

RULE = "read-on-some-paths"
SEVERITY: Severity = "warning"
VALUE = "key"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per read that a path bypasses."""
    for read, writer in graph.flow.missed(graph.flow.reads):
        reader = read.step
        way = graph.example(graph.start, lambda node, reader=reader: node == reader, avoid=(writer,))  # type: ignore[misc]
        yield graph.finding(
            RULE,
            SEVERITY,
            f"{graph.name(reader)} reads {read.key} ({read.source}), and a path comes there without it"
            + (f": {way}" if way else ""),
            why="on that path the value is missing and the agent has to guess",
            do=f"lead every path through {graph.name(writer)}, or say in the step what to do without it, and allow it: "
            f'allow={{"{allow_key(RULE, read.key)}": "why"}}',
            step=reader,
            value=read.key,
        )
