"""No run can come to a step.

## What it does
Reports the steps that a search from the start does not find. Steps that hang together are one finding, at the step
that a route has to lead to; those that lead only to each other are found too, although each of them has a route in.

## Why it is bad
What the step asks is never done, and nobody notices: the route to it was forgotten, or the step is left over.

## Example
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("boil", "Boil water", next={Outcome.OK: None}),
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

from bisect import bisect
from collections.abc import Collection, Iterator

from skills.lib.validation import walks
from skills.lib.validation.finding import Finding, Severity, is_allowed
from skills.lib.validation.view import GraphView

RULE = "unreachable-step"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding for the steps that hang together and are not reached from the start."""
    if len(graph.reachable) == len(graph.index):
        return
    into: dict[int, set[int]] = {}
    for node, _, target in graph.hops(range(len(graph.steps))):
        if node != target:
            into.setdefault(target, set()).add(node)
    reached = sorted(graph.reachable)
    for island, members in graph.islands:
        entries = [at for at in island if not is_allowed(graph.steps[at], RULE)]
        for some in (entries, *[[at] for at in island if at not in entries]):
            if some:
                before = bisect(reached, some[0])
                source = reached[before - 1] if before else graph.start
                yield _finding(graph, some, members - set(island), into.get(some[0]), source)


def _finding(
    graph: GraphView, entries: list[int], others: Collection[int], into: Collection[int] | None, source: int
) -> Finding:
    """The finding about an island: ``into`` leads to its first entry, ``source`` could lead there."""
    named = _and(graph, entries)
    what = f"no path leads from the start {graph.name(graph.start)} to {named}: no route leads there"
    if into:
        loop = _and(graph, into)
        leads, comes = ("lead", "come") if len(into) > 1 else ("leads", "comes")
        what = f"no path leads from the start {graph.name(graph.start)} to {named}: "
        what += f"only {loop} {leads} there, which {comes} after it"
    if others:
        what += f"; {_and(graph, others)} {'are' if len(others) > 1 else 'is'} not reached for the same reason"
    several = len(entries) + len(others) > 1
    return graph.finding(
        RULE,
        SEVERITY,
        what,
        why=f"no run ever does what {'these steps ask' if several else 'this step asks'}",
        do=f"lead {graph.name(source)}, or another step that is reached, to {named}; "
        f"or delete {'all that is not reached' if several else 'it'}",
        step=entries[0],
    )


def _and(graph: GraphView, nodes: Collection[int]) -> str:
    """The steps by name, as a sentence lists them."""
    names = walks.listed(graph, nodes)
    first, comma, last = names.rpartition(", ")
    return f"{first} and {last}" if comma and " more" not in last else names
