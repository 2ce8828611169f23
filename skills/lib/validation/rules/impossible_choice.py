"""A choice can never be given.

## What it does
Reports a choice of a Field or an Arg that is no value of its type or lies outside of its range, and any choice, of a
Person too, that is blank or looks like a placeholder.

## Why it is bad
The block offers it, and whoever takes it is refused. Where no choice is left, no run can go on.

## Example
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("taste", "Taste it", next={Outcome.OK: None}, requires=[Field("good", "bool", choices=("yes", "no"))]),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("taste", "Taste it", next={Outcome.OK: None}, requires=[Field("good", choices=("yes", "no"))]),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model import values
from skills.lib.model.requirements import Field
from skills.lib.model.types import Person
from skills.lib.validation.asked import as_choice
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "impossible-choice"
SEVERITY: Severity = "error"
VALUE = "name"

# What a person says: any text that is one.
_ANSWER = Field("answer")


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per set of choices that has such."""
    for one in graph.asked:
        spec = as_choice(one.spec)
        refused = [choice for choice in one.spec.choices if not values.fits(spec, choice)]
        if refused:
            yield graph.finding(
                RULE,
                SEVERITY,
                f"{one.name} takes {values.expectation(spec)}, which its {_named(refused)} not",
                why="the block offers it, and whoever takes it is refused",
                do="leave it out, or give the value another type or range",
                step=one.step,
                value=one.spec.name,
                line=one.line,
            )
    for at, step in enumerate(graph.steps):
        if not isinstance(step.handler, Person):
            continue
        refused = [choice for choice in step.handler.choices if not values.fits(_ANSWER, choice)]
        if refused:
            yield graph.finding(
                RULE,
                SEVERITY,
                f"the Person of {step.id} takes a text as answer, which its {_named(refused)} not",
                why="the person is offered it, and whoever takes it is refused",
                do="put the answer in words",
                step=at,
                value=_ANSWER.name,
            )


def _named(choices: list[str]) -> str:
    names = ", ".join(map(repr, choices))
    return f"choice {names} is" if len(choices) == 1 else f"choices {names} are"
