"""A choice reads as something else.

## What it does
Reports a choice of a Person, a Field or an Arg that holds `|` or a line break, begins or ends with a space, or begins
with `-` and is no number.

## Why it is bad
A block prints the choices in one line, joined by `|`, and they are given on command lines. Such a choice reads as two,
is retyped without its space, or passes for a flag.

## Example
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("taste", "Taste it", next={Outcome.OK: None}, handler=Person("How was it?", {"weak|bitter": Outcome.OK})),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "tea",
    StepDef(
        "taste",
        "Taste it",
        next={Outcome.OK: None},
        handler=Person("How was it?", {"weak": Outcome.OK, "bitter": Outcome.OK}),
    ),
)
```
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from skills.lib.model.types import Person
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "ambiguous-choice"
SEVERITY: Severity = "warning"
VALUE = "name"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per set of choices that has such."""
    found = [
        (one.name, one.spec.name, _faults(one.spec.choices, one.spec.type), one.step, one.line) for one in graph.asked
    ]
    found += [
        (f"the Person of {step.id}", "answer", _faults(step.handler.choices), at, None)
        for at, step in enumerate(graph.steps)
        if isinstance(step.handler, Person)
    ]
    for name, value, faults, step, line in found:
        if faults:
            yield graph.finding(
                RULE,
                SEVERITY,
                f"{name} has a choice that reads as something else: {', '.join(faults)}",
                why="choices are printed in one line, joined by |, and given on command lines",
                do="choose a plain word for it",
                step=step,
                value=value,
                line=line,
            )


def _faults(choices: Iterable[str], type: str = "text") -> list[str]:
    """Each such choice, with what is amiss; a blank one is none at all, which another rule tells."""
    signed = type in ("int", "float")
    found = ((choice, _fault(choice, signed)) for choice in choices if choice.strip())
    return [f"{choice!r} {fault}" for choice, fault in found if fault]


def _fault(choice: str, signed: bool) -> str:
    if "|" in choice:
        return "holds |"
    if len(choice.splitlines()) > 1:
        return "holds a line break"
    if choice != choice.strip():
        return "has a space at its end" if choice == choice.lstrip() else "begins with a space"
    return "begins with -" if choice.startswith("-") and not signed else ""
