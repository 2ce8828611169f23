"""The file that a step asks for lies outside of the project.

## What it does
Reports an `Artifact` whose path is absolute, or leads out of the project by `..`. Paths with a placeholder are checked
when a run comes there.

## Why it is bad
Evidence is looked for under the project alone: whatever the agent writes, no run can leave the step.

## Example
```python
WORKFLOW = Workflow(
    "triage",
    StepDef("sort", "Sort the reports", next={Outcome.OK: None}, requires=[Artifact("../triage.md")]),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "triage",
    StepDef("sort", "Sort the reports", next={Outcome.OK: None}, requires=[Artifact("triage.md")]),
)
```
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator

from skills.lib.model.requirements import Artifact
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.state_flow import placeholders
from skills.lib.validation.view import GraphView

RULE = "artifact-outside-project"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per path that no file of a project has."""
    for at, step in enumerate(graph.steps):
        for spec in step.requires:
            if isinstance(spec, Artifact) and not placeholders((spec.path,)) and (how := _leaves(spec.path)):
                yield graph.finding(
                    RULE,
                    SEVERITY,
                    f"{step.id} asks for the file {spec.path}, which {how}",
                    why="evidence is looked for under the project alone, so no run can leave this step",
                    do="give a path relative to the project's root, without a way out of it",
                    step=at,
                )


def _leaves(path: str) -> str:
    """How the path leads out of any project, or nothing."""
    if os.path.isabs(path):
        return "is an absolute path"
    return "leads out of the project" if os.path.normpath(path).split(os.sep)[0] == os.pardir else ""
