"""A schema of a file cannot be checked.

## What it does
Reports an `Artifact` whose `schema` is not valid, or uses a keyword or a pattern outside of the subset of JSON Schema
that Lockstep checks (`docs/schemas.md`). Each finding names the place in the schema.

## Why it is bad
A file is checked with the standard library, and a keyword that is passed over would let a wrong file pass. So the step
that asks for the file cannot be left: every run would stop there.

## Example
```python
REPORT = {"type": "object", "required": ["cause"], "unevaluatedProperties": False}
WORKFLOW = Workflow(
    "triage",
    StepDef("sort", "Sort the reports", next={Outcome.OK: None}, requires=[Artifact("triage.json", schema=REPORT)]),
)
```

## Use instead
```python
REPORT = {
    "type": "object",
    "required": ["cause"],
    "properties": {"cause": {"type": "string"}},
    "additionalProperties": False,
}
WORKFLOW = Workflow(
    "triage",
    StepDef("sort", "Sort the reports", next={Outcome.OK: None}, requires=[Artifact("triage.json", schema=REPORT)]),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model.requirements import Artifact
from skills.lib.schema import problems
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "unsupported-schema"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per place in a schema that cannot be used."""
    for at, step in enumerate(graph.steps):
        for spec in step.requires:
            if not isinstance(spec, Artifact) or spec.schema is None:
                continue
            for problem in problems(spec.schema):
                yield graph.finding(
                    RULE,
                    SEVERITY,
                    f"{step.id} asks for {spec.path} with a schema that cannot be checked: {problem.summary}",
                    why="the file cannot be checked, so no run can leave this step",
                    do=problem.do,
                    step=at,
                )
