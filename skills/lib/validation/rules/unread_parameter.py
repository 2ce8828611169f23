"""A parameter is never read.

## What it does
Reports an `Arg` that no `needs`, no placeholder, no `closing` and no handler reads. What is reported on leaving a step
that can be the last is excepted, for it is the result. Where a handler uses its context in a way that cannot be
followed, the rule is silent for the whole workflow. A parameter of the run is told at the first step.

## Why it is bad
Whoever opens a run is asked for something that changes nothing: the reader was forgotten, or the parameter can go.

## Example
```python
WORKFLOW = Workflow(
    "inquiry",
    StepDef("report", "Report", "Answer the question.", {Outcome.OK: None}),
    params=[Arg("question")],
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "inquiry",
    StepDef("report", "Report", "Answer the question.", {Outcome.OK: None}, needs=["question"]),
    params=[Arg("question")],
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.handler_reads import keys_read, params_read
from skills.lib.validation.topology import END
from skills.lib.validation.view import GraphView

RULE = "unread-parameter"
SEVERITY: Severity = "warning"
VALUE = "name"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per parameter that nothing reads."""
    keys, names = keys_read(graph), params_read(graph)
    if keys is None or names is None or graph.start == END:
        return
    for arg in graph.workflow.params:
        at = graph.start if arg.step is None else graph.index.get(arg.step)
        if at is None or arg.waives or arg.name in names or f"{arg.step}.{arg.name}" in keys:
            continue
        if arg.step is not None and any(target == END for _, target in graph.routes[at]):
            continue
        asked = "that opens a run" if arg.step is None else f"that leaves {arg.step}"
        yield graph.finding(
            RULE,
            SEVERITY,
            f"{arg.flag} is asked for by the command {asked}, and nothing reads it",
            why="something is asked for that changes nothing",
            do=f'show it where it matters with needs=["{arg.name if arg.step is None else f"{arg.step}.{arg.name}"}"], '
            "or leave it out",
            step=at,
            value=arg.name,
            line=graph.lines.of_parameter(arg.name),
        )
