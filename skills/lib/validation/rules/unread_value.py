"""What a step records is never read.

## What it does
Reports a Field, and a key that a handler returns, that no `needs`, no placeholder, no dispatch and no handler reads.
Steps that can be the last are excepted, for what they record is the result; so are review items. Where a handler uses
its context in a way that cannot be followed, the rule is silent for the whole workflow.

## Why it is bad
The agent is asked for something that nobody uses: the reader was forgotten, or the question can go.

## Example
```python
WORKFLOW = Workflow(
    "inquiry",
    StepDef("ask", "Ask", next={Outcome.OK: "report"}, requires=[Field("question")]),
    StepDef("report", "Report", next={Outcome.OK: None}),
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

from skills.lib.model.requirements import Field
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.handler_reads import keys_read
from skills.lib.validation.topology import END
from skills.lib.validation.view import GraphView

RULE = "unread-value"
SEVERITY: Severity = "warning"
VALUE = "name"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per value that nothing reads."""
    read = keys_read(graph)
    if read is None:
        return
    for at, step in graph.distinct:
        if any(target == END for _, target in graph.routes[at]):
            continue
        judged = {spec.name for spec in step.requires if isinstance(spec, Field) and spec.type == "items"}
        recorded = [name for name in step.records if name not in judged]
        source = graph.handlers.by_step.get(at)
        returned = sorted((source.writes if source else None) or ())
        for name in dict.fromkeys([*recorded, *returned]):
            if f"{step.id}.{name}" in read:
                continue
            how = "records" if name in recorded else "returns from its handler"
            yield graph.finding(
                RULE,
                SEVERITY,
                f"{step.id} {how} {name}, which nothing reads",
                why="the agent is asked for something, or the run keeps something, that nobody uses",
                do=f'show it where it matters with needs=["{step.id}.{name}"], or leave it out',
                step=at,
                value=name,
            )
