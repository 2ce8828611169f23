"""The routes out of a loop are never taken.

## What it does
Reports a loop whose only routes out belong to outcomes that the steps never give, to the FAIL of a gate or of
sub-agents, or to the SKIP of sub-agents whose targets are recorded outside of the loop, and so are there each time or
never: on paper the loop can be left, in truth a run whose work is good cannot leave it.

## Why it is bad
A run that comes there goes round for ever, although a diagram shows a way out.

## Example
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("boil", "Boil water", next={Outcome.OK: "taste"}),
    StepDef(
        "taste",
        "Taste it",
        next={Outcome.OK: "boil", Outcome.SKIP: None},
        handler=Person("It is not good yet. Go on?", {"yes": Outcome.OK}),
    ),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "tea",
    StepDef("boil", "Boil water", next={Outcome.OK: "taste"}),
    StepDef(
        "taste",
        "Taste it",
        next={Outcome.OK: None, Outcome.FAIL: "boil"},
        handler=Person("Is it good?", {"yes": Outcome.OK, "no": Outcome.FAIL}),
    ),
)
```
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import networkx as nx

from skills.lib.workflow.types import Dispatch, Outcome
from skills.lib.workflow.validation import walks
from skills.lib.workflow.validation.finding import Finding, Severity
from skills.lib.workflow.validation.graph import GraphView

RULE = "loop-without-exit"
SEVERITY: Severity = "error"
_SAME = "takes that there are no targets, and the loop records none"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per loop that only routes which are never taken would leave."""
    dead = _dead(graph)
    for members in graph.open_loops:
        if not any(hop[:2] in dead or _lists(graph, *hop[:2]) for hop in graph.hops(members)):
            continue
        for closed in _closed(graph, members, dead):
            exits = [hop for hop in graph.hops(closed) if hop[2] not in closed]
            shown = "; ".join(f"{walks.printed(graph, [hop])} {dead.get(hop[:2], _SAME)}" for hop in exits)
            yield graph.finding(
                RULE,
                SEVERITY,
                f"the loop {walks.printed(graph, walks.cycle(graph, closed, skip=dead))} is never left. {shown}",
                why="a run that comes here goes round for ever",
                do="route an outcome that a step of the loop does give out of it",
                step=min(closed),
            )


def _dead(graph: GraphView) -> dict[tuple[int, Outcome], str]:
    """The hops that are no way out, each with the reason in words."""
    found = {hop: f"is never taken: {why}" for hop, why in graph.never_taken.items()}
    for at, step in graph.distinct:
        if step.handler is not None and step.gate:
            found[at, Outcome.FAIL] = "takes a review that fails"
        elif isinstance(step.handler, Dispatch) and step.function is None:
            found[at, Outcome.FAIL] = "takes a sub-agent that fails"
    return found


def _closed(graph: GraphView, members: set[int], dead: Collection[tuple[int, Outcome]]) -> Iterator[set[int]]:
    """The loops among ``members`` that nothing leaves once the hops that are no way out are gone."""
    live = [hop for hop in graph.hops(members) if hop[:2] not in dead]
    told: list[set[int]] = []
    # A loop with a way out and back for want of targets has a smaller one in it that goes on with them.
    for hops in (live, [hop for hop in live if not _lists(graph, *hop[:2])]):
        inner: nx.DiGraph[int] = nx.DiGraph((node, target) for node, _, target in hops if target in members)
        for found in sorted(nx.strongly_connected_components(inner), key=min):
            looping = len(found) > 1 or inner.has_edge(*(next(iter(found)),) * 2)
            sources = [_lists(graph, *hop[:2]) for hop in live if hop[0] in found and hop[2] not in found]
            closed = all(source and graph.index.get(source) not in found for source in sources)
            if looping and closed and not any(found <= other for other in told):
                told.append(found)
                yield found


def _lists(graph: GraphView, at: int, outcome: Outcome) -> str:
    """The step that records the targets for want of which the route is taken; empty if it has another reason."""
    handler = graph.steps[at].handler
    targets = handler.targets if isinstance(handler, Dispatch) and outcome is Outcome.SKIP else ()
    return targets.partition(".")[0] if isinstance(targets, str) else ""
