"""The routes out of a loop are never taken.

## What it does
Reports a loop whose only routes out belong to outcomes that the steps never give, to an ITERATE that is taken no more
at its limit, to the FAIL of a gate or of sub-agents, or to sub-agents whose targets are recorded outside of the loop,
so that they are skipped each time or never: on paper the loop can be left, in truth a run whose work is good cannot
leave it.

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

from collections.abc import Collection, Iterator, Mapping

import networkx as nx

from skills.lib.model.types import Dispatch, Outcome
from skills.lib.validation import outcomes, topology, walks
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "loop-without-exit"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per loop that only routes which are never taken would leave."""
    dead = _dead(graph)
    for members in graph.open_loops:
        if not any(hop[:2] in dead or _source(graph, hop[0]) for hop in graph.hops(members)):
            continue
        for closed in _closed(graph, members, dead):
            exits = [hop for hop in graph.hops(closed) if hop[2] not in closed]
            shown = "; ".join(f"{walks.printed(graph, [hop])} {_why(dead, hop)}" for hop in exits)
            yield graph.finding(
                RULE,
                SEVERITY,
                f"the loop {walks.printed(graph, walks.cycle(graph, closed, skip=dead))} is never left. {shown}",
                why="a run that comes here goes round for ever",
                do="route an outcome that a step of the loop does give out of it",
                step=min(closed),
            )


def _why(dead: Mapping[tuple[int, Outcome], str], hop: topology.Hop) -> str:
    targets = "that there are no targets" if hop[1] is Outcome.SKIP else "targets"
    return dead.get(hop[:2]) or f"takes {targets}, and the loop records none"


def _dead(graph: GraphView) -> dict[tuple[int, Outcome], str]:
    """The hops that are no way out, each with the reason in words."""
    found = {hop: f"is never taken: {why}" for hop, why in graph.never_taken.items()}
    for at, step in graph.distinct:
        if step.handler is not None and step.gate:
            found[at, Outcome.FAIL] = "takes a review that fails"
        elif isinstance(step.handler, Dispatch) and step.function is None:
            found[at, Outcome.FAIL] = "takes a sub-agent that fails"
        if outcomes.is_limited(step) and step.at_limit is not Outcome.ITERATE:
            found[at, Outcome.ITERATE] = "is taken no more at the limit"
    return found


def _closed(graph: GraphView, members: set[int], dead: Collection[tuple[int, Outcome]]) -> Iterator[set[int]]:
    """The loops among ``members`` that nothing leaves once the hops that are no way out are gone."""
    live = [hop for hop in graph.hops(members) if hop[:2] not in dead]
    told: list[set[int]] = []
    for hops, barred in _worlds(graph, live):
        inner: nx.DiGraph[int] = nx.DiGraph((node, target) for node, _, target in hops if target in members)
        for found in sorted(nx.strongly_connected_components(inner), key=min):
            looping = len(found) > 1 or inner.has_edge(*(next(iter(found)),) * 2)
            out = [hop for hop in live if hop[0] in found and hop[2] not in found]
            closed = all(hop in barred and graph.index.get(_source(graph, hop[0])) not in found for hop in out)
            if looping and closed and not any(found <= other for other in told):
                told.append(found)
                yield found


def _worlds(graph: GraphView, live: list[topology.Hop]) -> Iterator[tuple[list[topology.Hop], set[topology.Hop]]]:
    """The hops that may be taken, and those that may not unless other targets are recorded.

    Sub-agents whose targets are recorded are skipped each time, or never; a loop may have a smaller one in it that is
    closed in one of the two cases.
    """
    skips = {hop for hop in live if _source(graph, hop[0]) and hop[1] is Outcome.SKIP}
    yield live, skips
    if skips:
        yield [hop for hop in live if hop not in skips], skips
    for source in sorted({_source(graph, hop[0]) for hop in skips}):
        others = {hop for hop in live if _source(graph, hop[0]) == source and hop not in skips}
        yield [hop for hop in live if hop not in others], others


def _source(graph: GraphView, at: int) -> str:
    """The step that records the targets of a step's sub-agents; empty if none does."""
    handler = graph.steps[at].handler
    targets = handler.targets if isinstance(handler, Dispatch) else ()
    return targets.partition(".")[0] if isinstance(targets, str) else ""
