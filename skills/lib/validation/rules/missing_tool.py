"""A step asks for what its tools forbid.

## What it does
Reports a Dispatch at a step whose `tools` lack `agent`, and an Artifact at a step whose `tools` have none of `write`,
`edit` and `shell`. A file that an earlier step asked for, that a Command before it may write, or that sub-agents of
the step may write, is not reported. A step that names no tools, in a workflow that names none, may use all.

## Why it is bad
Where a host enforces the tools, the evidence can never be given, and no run leaves the step.

## Example
```python
WORKFLOW = Workflow(
    "survey",
    StepDef("report", "Report", "Write it down.", {Outcome.OK: None}, requires=[Artifact("survey.md")], tools=["read"]),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "survey",
    StepDef(
        "report",
        "Report",
        "Write it down.",
        {Outcome.OK: None},
        requires=[Artifact("survey.md")],
        tools=["read", "write"],
    ),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model.requirements import Artifact, Command, Field
from skills.lib.model.steps import StepDef
from skills.lib.model.types import Dispatch
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "missing-tool"
SEVERITY: Severity = "error"
VALUE = "tool or path"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per tool that is missing, or per file that nobody may write."""
    for at, step in graph.distinct:
        tools = graph.workflow.tools_of(step)
        if not tools:
            continue
        allowed = ", ".join(tools)
        if isinstance(step.handler, Dispatch):
            if "agent" not in tools:
                what, do = f"{step.id} dispatches sub-agents", 'add "agent" to the tools of the step'
                yield _finding(graph, at, f"{what}, and its tools are {allowed}", do, "agent")
        elif not any(tool in ("write", "edit") or tool.startswith("shell") for tool in tools):
            for path in _unwritten(graph, at, step):
                what = f"{step.id} asks for the file {path}, and its tools are {allowed}: none of them writes"
                yield _finding(graph, at, what, 'add "write" to the tools of the step', path)


def _finding(graph: GraphView, at: int, what: str, do: str, value: str) -> Finding:
    why = "where a host enforces the tools, no run leaves the step"
    return graph.finding(RULE, SEVERITY, what, why=why, do=do, step=at, value=value)


def _unwritten(graph: GraphView, at: int, step: StepDef) -> Iterator[str]:
    """The paths of Artifacts that no earlier step asks for and no Command before them may write."""
    for spec in step.requires:
        if isinstance(spec, Command):
            return
        if isinstance(spec, Artifact) and not _is_there(graph, at, _absolute(step, spec.path)):
            yield spec.path


def _is_there(graph: GraphView, at: int, path: str) -> bool:
    """Whether a step that every run has passed before asks for the same file."""
    return any(
        isinstance(spec, Artifact) and _absolute(other, spec.path) == path
        for before, other in graph.distinct
        if before != at and graph.flow.dominance.passes(before, at)
        for spec in other.requires
    )


def _absolute(step: StepDef, path: str) -> str:
    """The path with the step's own fields named as other steps name them."""
    for spec in step.requires:
        if isinstance(spec, Field):
            path = path.replace(f"{{{spec.name}}}", f"{{{step.id}.{spec.name}}}")
    return path
