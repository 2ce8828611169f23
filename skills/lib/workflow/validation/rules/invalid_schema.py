"""The schema of a file is no JSON Schema.

## What it does
Reports an Artifact whose `schema` is no valid JSON Schema (2020-12), or refers to a part that it does not have.

## Why it is bad
The file cannot be checked against it, so no run leaves the step.

## Example
```python
WORKFLOW = Workflow(
    "survey",
    StepDef(
        "report", "Report", "Write it.", {Outcome.OK: None}, requires=[Artifact("survey.json", {"type": "objekt"})]
    ),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "survey",
    StepDef(
        "report", "Report", "Write it.", {Outcome.OK: None}, requires=[Artifact("survey.json", {"type": "object"})]
    ),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.workflow.requirements import Artifact
from skills.lib.workflow.validation.finding import Finding, Severity
from skills.lib.workflow.validation.graph import GraphView
from skills.lib.workflow.validation.schemas import schema_fault

RULE = "invalid-schema"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per schema that nothing can be checked against."""
    for at, step in enumerate(graph.steps):
        for spec in step.requires:
            fault = schema_fault(spec.schema) if isinstance(spec, Artifact) and spec.schema is not None else ""
            if isinstance(spec, Artifact) and fault:
                yield graph.finding(
                    RULE,
                    SEVERITY,
                    f"the schema of {spec.path}, which {step.id} asks for, cannot be used: {fault}",
                    why="the file cannot be checked against it, so no run leaves the step",
                    do="correct the schema",
                    step=at,
                )
