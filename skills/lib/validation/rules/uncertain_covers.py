"""A review may cover fewer files than its Dispatch says.

## What it does
Reports `covers` of a Dispatch that reads a value which may be missing (an optional Field, an optional parameter of the
run), or one that is neither a text nor a list of texts; and a list that stands within a pattern.

## Why it is bad
The verdict is bound to the files that the review covers. A value that was not recorded adds none, and what is neither
a path nor a list of paths matches none: the files may then change after the review.

## Example
```python
WORKFLOW = Workflow(
    "change",
    StepDef("work", "Make the change", next={Outcome.OK: "review"}, requires=[Field("files", "list", required=False)]),
    StepDef(
        "review",
        "Review the change",
        next={Outcome.OK: "gate"},
        handler=Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it.", checkpoint="change", covers=["{work.files}"]),
    ),
    StepDef("gate", "Gate", next={Outcome.OK: None, Outcome.FAIL: "work"}, handler=Gate("change", stale="review")),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "change",
    StepDef("work", "Make the change", next={Outcome.OK: "review"}, requires=[Field("files", "list", minimum=1)]),
    StepDef(
        "review",
        "Review the change",
        next={Outcome.OK: "gate"},
        handler=Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it.", checkpoint="change", covers=["{work.files}"]),
    ),
    StepDef("gate", "Gate", next={Outcome.OK: None, Outcome.FAIL: "work"}, handler=Gate("change", stale="review")),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.state_flow import placeholders
from skills.lib.validation.templates import may_be_missing, source_of
from skills.lib.validation.view import GraphView

RULE = "uncertain-covers"
SEVERITY: Severity = "warning"
VALUE = "name"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per value in ``covers`` that may name no file."""
    for at, step in graph.distinct:
        told = set()
        for pattern in step.covers:
            for name in placeholders([pattern]):
                why = _doubt(graph, pattern, name)
                if why and name not in told:
                    told.add(name)
                    yield graph.finding(
                        RULE,
                        SEVERITY,
                        f"the review at {step.id} covers {pattern}, and {name} {why}",
                        why="the verdict is bound to the covered files alone: others may change after the review",
                        do=f"declare {name.rpartition('.')[2]} as a required list of paths, or name the files",
                        step=at,
                        value=name,
                    )


def _doubt(graph: GraphView, pattern: str, name: str) -> str:
    spec = source_of(graph, name)
    if spec is None:
        return ""
    if may_be_missing(spec):
        return "may not be recorded" if "." in name else "may not be given"
    whole = pattern == f"{{{name}}}"
    if spec.type not in (("text", "list") if whole else ("text",)):
        return f"is of type {spec.type}" + ("" if whole else ", which is no part of a path")
    return ""
