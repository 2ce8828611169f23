"""A step reads what no path has written.

## What it does
Reports an entry of `needs`, a `{placeholder}` of an Artifact, Command, Person or Dispatch (its `task`, `tasks`,
`context` and `params`), and a list of dispatch targets that no step writes, or that only steps write which no path
passes before; also a `{placeholder}` of the workflow's `closing` that is no parameter of the run. Braces that mean
themselves are waived by name: `allow={"read-before-write:name": "…"}`.

## Why it is bad
The step is printed without the value, its command runs with a hole in it, or its dispatch is refused.

## Example
```python
WORKFLOW = Workflow(
    "inquiry",
    StepDef("ask", "Ask", next={Outcome.OK: "report"}, requires=[Field("question")]),
    StepDef("report", "Report", next={Outcome.OK: None}, needs=["ask.answer"]),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "inquiry",
    StepDef("ask", "Ask", next={Outcome.OK: "report"}, requires=[Field("question")]),
    StepDef("report", "Report", next={Outcome.OK: None}, needs=["ask.question"]),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.nearest import did_you_mean
from skills.lib.validation.view import GraphView

RULE = "read-before-write"
SEVERITY: Severity = "error"
VALUE = "key"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per read of what cannot be there."""
    for found in graph.flow.unwritten(graph.flow.reads):
        read = found.read
        yield graph.finding(
            RULE,
            SEVERITY,
            f"{graph.name(read.step)} reads {read.key} ({read.source}): {found.why}{did_you_mean(found.near)}",
            why="the value is missing when the step is printed or left",
            do=f"read {found.near}" if found.near else "record the value in an earlier step, or do not read it",
            step=read.step,
            value=read.key,
        )
    for name, near in graph.flow.unfilled:
        yield graph.finding(
            RULE,
            SEVERITY,
            f"closing names {{{name}}}, which is no parameter of the run{did_you_mean(near)}",
            why="closing is filled with the parameters of the run alone: the braces are printed as they stand",
            do=f"write {{{near}}}" if near else "name a parameter of the run, or say it without braces",
            value=name,
        )
