"""A route leads to a step that does not exist.

## What it does
Reports every route whose target is no step of the workflow, and names the step that was probably meant. A word for the
end, such as `"done"`, is told to be written as `None`.

## Why it is bad
A run that ends the step with that outcome has nowhere to go.

## Example
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("boil", "Boil water", next={Outcome.OK: "step"}),
    StepDef("steep", "Let it steep", next={Outcome.OK: None}),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("boil", "Boil water", next={Outcome.OK: "steep"}),
    StepDef("steep", "Let it steep", next={Outcome.OK: None}),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.nearest import did_you_mean
from skills.lib.validation.topology import END
from skills.lib.validation.view import GraphView

RULE = "unknown-target"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per route to no step."""
    index = graph.index
    for at, step in enumerate(graph.steps):
        for outcome, target in step.next.items():
            if target is None or target in index:
                continue
            meant = graph.meant(target)
            near = None if meant < 0 else graph.name(meant)
            what = f"{step.id} -{outcome.value}-> {target}: there is no step {target!r}{did_you_mean(near)}"
            do = f"lead it to {near or 'a step of this workflow'}, or to None for the end"
            if meant == END:
                do = f"{target} is the end of a run: write None"
            yield graph.finding(
                RULE,
                SEVERITY,
                what,
                why=f"a run that ends {step.id} with {outcome.value} has nowhere to go",
                do=do,
                step=at,
                outcome=outcome,
            )
