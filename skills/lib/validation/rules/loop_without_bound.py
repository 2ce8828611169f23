"""Nothing ends a loop but the agent's own judgement.

## What it does
Reports a cycle on which no ITERATE or FAIL is bounded by `max_iterations`, and no Gate or Person stands: each of these
ends the loop or hands the decision to somebody. `max_iterations` bounds the ITERATE and the FAIL of the one step that
has it; at the limit a FAIL takes the route of `at_limit`, or a person is asked.

## Why it is bad
An agent that is never satisfied, or one that cannot do the task, goes round until its budget is spent.

## Example
```python
WORKFLOW = Workflow(
    "inquiry",
    StepDef(
        "investigate",
        "Investigate",
        next={Outcome.OK: "report", Outcome.ITERATE: "investigate"},
        when={Outcome.OK: "the cause is found", Outcome.ITERATE: "it is not"},
    ),
    StepDef("report", "Report", next={Outcome.OK: None}),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "inquiry",
    StepDef(
        "investigate",
        "Investigate",
        next={Outcome.OK: "report", Outcome.ITERATE: "investigate"},
        when={Outcome.OK: "the cause is found", Outcome.ITERATE: "it is not"},
        max_iterations=5,
    ),
    StepDef("report", "Report", next={Outcome.OK: None}),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx

from skills.lib.model.types import Gate, Outcome, Person
from skills.lib.validation import outcomes, review, walks
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "loop-without-bound"
SEVERITY: Severity = "warning"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per part of the graph that still has a cycle once all bounded ones are cut."""
    loops = [members for members in graph.open_loops if min(members) in graph.reachable]
    for members in loops:
        bounded = _bounded(graph, members)
        free: nx.DiGraph[int] = nx.DiGraph(
            (node, target)
            for node, outcome, target in graph.hops(members)
            if target in members and (node, outcome) not in bounded
        )
        for part in sorted(nx.strongly_connected_components(free), key=min):
            if len(part) == 1 and not free.has_edge(*(next(iter(part)),) * 2):
                continue
            cycle = walks.cycle(graph, part, skip=bounded, first=_first(graph, part))
            limited = [node for node in part if graph.steps[node].max_iterations]
            what = f"nothing bounds the loop {walks.printed(graph, cycle)}"
            if limited:
                what += f": max_iterations of {walks.listed(graph, limited)} bounds its ITERATE and its FAIL only"
            yield graph.finding(
                RULE,
                SEVERITY,
                what,
                why="an agent that is never satisfied goes round until its budget is spent",
                do="set max_iterations on the step that gives ITERATE or FAIL, or put a Gate or a Person on the loop",
                step=_first(graph, part),
            )


def _bounded(graph: GraphView, members: set[int]) -> set[tuple[int, Outcome]]:
    """The routes that a run takes a bounded number of times, or never."""
    bounded = {(node, outcome) for node, outcome, _ in graph.hops(members) if (node, outcome) in graph.never_taken}
    for node in members:
        step = graph.steps[node]
        if isinstance(step.handler, (Gate, Person)) or review.is_gate(step):
            bounded.update((node, outcome) for outcome in step.next)
        elif step.max_iterations is not None:
            bounded.add((node, Outcome.FAIL))
            if outcomes.is_limited(step):
                bounded.add((node, Outcome.ITERATE))
    return bounded


def _first(graph: GraphView, members: set[int]) -> int:
    """The step of a loop that a run comes to first, whatever the order in the file."""
    return min(members, key=lambda node: (graph.hops_from_start.get(node, len(graph.steps)), node))
