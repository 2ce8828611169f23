"""A loop has no route out.

## What it does
Reports a set of steps that lead to each other and nowhere else, with the cycle in full, and names the steps from
which nothing else can be reached.

## Why it is bad
A run that comes there goes round for ever: the end cannot be reached any more.

## Example
```python
WORKFLOW = Workflow(
    "tea",
    StepDef(
        "boil",
        "Boil water",
        next={Outcome.OK: "steep", Outcome.SKIP: None},
        when={Outcome.OK: "there are leaves", Outcome.SKIP: "there are none"},
    ),
    StepDef("steep", "Let it steep", next={Outcome.OK: "taste"}),
    StepDef("taste", "Taste it", next={Outcome.ITERATE: "steep"}),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "tea",
    StepDef(
        "boil",
        "Boil water",
        next={Outcome.OK: "steep", Outcome.SKIP: None},
        when={Outcome.OK: "there are leaves", Outcome.SKIP: "there are none"},
    ),
    StepDef("steep", "Let it steep", next={Outcome.OK: "taste"}),
    StepDef(
        "taste",
        "Taste it",
        next={Outcome.OK: None, Outcome.ITERATE: "steep"},
        when={Outcome.OK: "it is strong enough", Outcome.ITERATE: "it is too weak"},
        max_iterations=3,
    ),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.validation import walks
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "trap"
SEVERITY: Severity = "error"
# Further steps without a way to the end are not looked for: a graph may have many traps and a long way to each.
MANY = 200


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per loop without a route out; without any end the whole workflow is one, and said so once."""
    if not graph.has_end:
        return
    for members in graph.traps:
        cycle = walks.cycle(graph, members)
        what = f"from {walks.listed(graph, members)} the end cannot be reached: {walks.printed(graph, cycle)}"
        doomed = _leading_only_there(graph, members)
        if doomed:
            what += f"; nor can it from {walks.listed(graph, doomed)}"
            what += " and others" if len(doomed) == MANY else ""
        yield graph.finding(
            RULE,
            SEVERITY,
            what,
            why="a run that comes here goes round for ever",
            do="give one step of the loop a route that leaves it, for the outcome that means it is finished",
            step=min(members),
        )


def _leading_only_there(graph: GraphView, members: set[int]) -> set[int]:
    """The steps outside that can come to the loop and not to the end, MANY at most."""
    found: set[int] = set()
    stack = list(members)
    while stack and len(found) < MANY:
        for before in graph.digraph.pred[stack.pop()]:
            if before not in found and before not in members and before not in graph.can_end:
                found.add(before)
                stack.append(before)
                if len(found) == MANY:
                    break
    return found
