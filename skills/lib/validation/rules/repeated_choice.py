"""A choice stands twice.

## What it does
Reports a Field or an Arg with two choices that are the same value: `green` and `green`, or the numbers `1` and `01`.

## Why it is bad
One of them was meant to be another: what it was to say cannot be said.

## Example
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("buy", "Buy leaves", next={Outcome.OK: None}, requires=[Field("leaves", choices=("green", "green"))]),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("buy", "Buy leaves", next={Outcome.OK: None}, requires=[Field("leaves", choices=("green", "black"))]),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.validation.asked import read_choice
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "repeated-choice"
SEVERITY: Severity = "error"
VALUE = "name"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per set of choices in which one stands twice."""
    for one in graph.asked:
        alike: dict[str, list[str]] = {}
        for choice in one.spec.choices:
            alike.setdefault(read_choice(one.spec, choice), []).append(choice)
        again = [" and ".join(map(repr, choices)) for choices in alike.values() if len(choices) > 1]
        if again:
            yield graph.finding(
                RULE,
                SEVERITY,
                f"{one.name} has the same choice twice: {', '.join(again)}",
                why="one of them was meant to be another, which cannot be given",
                do="leave one out, or write what it was to be",
                step=one.step,
                value=one.spec.name,
                line=one.line,
            )
