"""An answer that a person may give has no route.

## What it does
Reports a choice of a Person whose outcome has neither a route nor a DEFAULT to cover it.

## Why it is bad
The person answers, and the run stops with an error instead of going on.

## Example
```python
WORKFLOW = Workflow(
    "tea",
    StepDef(
        "taste",
        "Taste it",
        next={Outcome.OK: None},
        handler=Person("Is it good?", {"yes": Outcome.OK, "no": Outcome.FAIL}),
    ),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "tea",
    StepDef(
        "taste",
        "Taste it",
        next={Outcome.OK: None, Outcome.FAIL: "sweeten"},
        handler=Person("Is it good?", {"yes": Outcome.OK, "no": Outcome.FAIL}),
    ),
    StepDef("sweeten", "Add honey", next={Outcome.OK: None}),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model.types import Outcome, Person
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "unrouted-answer"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per outcome of answers that leads nowhere."""
    for at, step in enumerate(graph.steps):
        if not isinstance(step.handler, Person) or not step.next:
            continue
        answers: dict[Outcome, list[str]] = {}
        for choice, outcome in step.handler.choices.items():
            answers.setdefault(outcome, []).append(choice)
        for outcome, choices in (answers or {Outcome.OK: []}).items():
            if step.route(outcome) is None:
                said = f"the answer {' or '.join(map(repr, choices))}" if choices else "any answer"
                yield graph.finding(
                    RULE,
                    SEVERITY,
                    f"{said} ends {step.id} with {outcome.value}, which has no route",
                    why="the person answers, and the run stops with an error",
                    do=f"add Outcome.{outcome.name}: ... to its next, or map the answer to an outcome that is routed",
                    step=at,
                    outcome=outcome,
                )
