"""Two values are reported under one name.

## What it does
Reports a name that a step records twice: as fields, as outputs of commands, as parameters of leaving it, or as one of
each; a parameter of the run of which another parameter has the name; and in a workflow with reviews a field that is
called `fixes`: in that record the findings of a review are answered.

## Why it is bad
One name holds one value: the other is lost, or refused because the run was opened with it.

## Example
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("taste", "Taste it", next={Outcome.OK: None}, requires=[Field("note"), Field("note", "list")]),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("taste", "Taste it", next={Outcome.OK: None}, requires=[Field("note"), Field("faults", "list")]),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model.run import FIXES
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "repeated-name"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per name and step, or per name of a parameter of the run."""
    of_step: dict[str, list[str]] = {}
    for arg in graph.workflow.params:
        if arg.step is not None:
            of_step.setdefault(arg.step, []).append(arg.name)
    for at, step in enumerate(graph.steps):
        fields = list(step.records)
        params = of_step.get(step.id, [])
        if FIXES in fields and any(other.checkpoint for other in graph.steps):
            yield graph.finding(
                RULE,
                SEVERITY,
                f"{step.id} asks for {FIXES}, the record in which findings of a review are answered",
                why="an answer to a finding and the step's own value would be one",
                do="give the field another name",
                step=at,
            )
        if len(fields) + len(params) < 2:
            continue
        for name in _twice([*fields, *params]):
            what = "as a field and as a parameter" if name in fields and name in params else "twice"
            yield graph.finding(
                RULE,
                SEVERITY,
                f"{step.id} asks for {name} {what}",
                why="one name holds one value: the other is lost",
                do="give one of them another name, or leave it out",
                step=at,
            )
    of_run = [arg.name for arg in graph.workflow.run_params()]
    elsewhere = {name for names in of_step.values() for name in names}
    for name in dict.fromkeys([*_twice(of_run), *(name for name in of_run if name in elsewhere)]):
        other = "is also reported on leaving a step" if name in elsewhere else "stands twice"
        yield graph.finding(
            RULE,
            SEVERITY,
            f"the parameter {name} of the run {other}",
            why="it is fixed when the run opens: under that name nothing else can be given",
            do="give one of them another name, or leave it out",
            line=graph.lines.of_parameter(name),
        )


def _twice(names: list[str]) -> list[str]:
    """The names that stand more than once, each once."""
    return [name for name in dict.fromkeys(names) if names.count(name) > 1]
