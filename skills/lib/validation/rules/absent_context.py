"""A prompt speaks of CONTEXT, and the step shows none.

## What it does
Reports a step whose actions name CONTEXT, that needs nothing, and to which no review leads back with its findings.
Workflows whose steps record review items are excepted: their runs show the items to verify.

## Why it is bad
CONTEXT holds what a step needs. Without it the agent looks for a part of the block that is not there, and guesses.

## Example
```python
WORKFLOW = Workflow(
    "inquiry",
    StepDef("report", "Report", ["Answer the question in CONTEXT."], next={Outcome.OK: None}),
    params=[Arg("question")],
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "inquiry",
    StepDef("report", "Report", ["Answer the question in CONTEXT."], next={Outcome.OK: None}, needs=["question"]),
    params=[Arg("question")],
)
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skills.lib.model.requirements import Field
from skills.lib.model.types import Outcome
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "absent-context"
SEVERITY: Severity = "warning"
_NAMED = re.compile(r"\bCONTEXT\b")


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per step that points at nothing."""
    if any(isinstance(spec, Field) and spec.type == "items" for step in graph.steps for spec in step.requires):
        return
    sent_back = {way[0] for step in graph.steps if step.gate and (way := step.route(Outcome.FAIL))}
    for at, step in enumerate(graph.steps):
        if step.needs or step.id in sent_back:
            continue
        found = graph.sections.first((*step.actions, *step.repeat), _NAMED)
        if found:
            file, line = found.place
            yield graph.finding(
                RULE,
                SEVERITY,
                f"{step.id} speaks of CONTEXT, and shows none: it needs nothing",
                why="the agent looks for values that are not there, and guesses",
                do='name what it speaks of: needs=["step.field"], or the name of a parameter',
                step=at,
                file=file,
                line=line,
            )
