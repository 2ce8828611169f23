"""Loops: a way out that a run can take, and a bound."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import networkx as nx

from skills.lib.model.steps import StepDef
from skills.lib.model.types import Dispatch, Gate, Outcome, Person
from skills.lib.validation import outcomes
from skills.lib.validation.graph import is_gate, loops_in
from skills.lib.validation.rule import GRAPH, Problem, rule
from skills.lib.validation.topology import Hop
from skills.lib.validation.view import GraphView

# Further steps without a way to the end are not looked for: a graph may have many traps and a long way to each.
MANY_DOOMED = 200


@rule("error", GRAPH, stops=True)
def trap(graph: GraphView) -> Iterator[Problem]:
    """A loop has no route out.

    ## What it does
    Reports a set of steps that lead to each other and nowhere else, with the cycle in full, and names the steps from
    which nothing else can be reached.

    ## Why it is bad
    A run that reaches it goes round for ever: it can no longer reach the end.

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
    # The rule no-end reports a workflow without any end.
    if not graph.has_end:
        return
    for members in graph.traps:
        cycle = graph.cycle(members)
        what = f"from {graph.listed(members)} the end cannot be reached: {graph.printed(cycle)}"
        doomed = _leading_only_there(graph, members)
        if doomed:
            what += f"; nor can it from {graph.listed(doomed)}"
            what += " and others" if len(doomed) == MANY_DOOMED else ""
        yield Problem(
            what,
            why="a run that comes here goes round for ever",
            do="give one step of the loop a route that leaves it, for the outcome that means it is finished",
            step=min(members),
        )


def _leading_only_there(graph: GraphView, members: set[int]) -> set[int]:
    """At most MANY_DOOMED steps outside of the loop that lead to it and not to the end."""
    found: set[int] = set()
    stack = list(members)
    while stack and len(found) < MANY_DOOMED:
        for before in graph.digraph.pred[stack.pop()]:
            if before not in found and before not in members and before not in graph.can_end:
                found.add(before)
                stack.append(before)
                if len(found) == MANY_DOOMED:
                    break
    return found


@rule("error", GRAPH, stops=True)
def loop_without_exit(graph: GraphView) -> Iterator[Problem]:
    """The routes out of a loop are never taken.

    ## What it does
    Reports a loop whose only routes out belong to outcomes that the steps never give, to an ITERATE that is taken no more
    at its limit, to the FAIL of a gate or of sub-agents, or to sub-agents whose targets are recorded outside of the loop,
    so that they are skipped each time or never: on paper the loop can be left, in truth a run whose work is good cannot
    leave it.

    ## Why it is bad
    A run that reaches it goes round for ever, although a diagram shows a way out.

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
    dead = _dead_hops(graph)
    for members in graph.open_loops:
        if not any(hop[:2] in dead or _targets_source(graph, hop[0]) for hop in graph.hops(members)):
            continue
        for closed in _closed_loops(graph, members, dead):
            exits = [hop for hop in graph.hops(closed) if hop[2] not in closed]
            shown = "; ".join(f"{graph.printed([hop])} {_why_not_left(dead, hop)}" for hop in exits)
            yield Problem(
                f"the loop {graph.printed(graph.cycle(closed, skip=dead))} is never left. {shown}",
                why="a run that comes here goes round for ever",
                do="route an outcome that a step of the loop does give out of it",
                step=min(closed),
            )


def _why_not_left(dead: Mapping[tuple[int, Outcome], str], hop: Hop) -> str:
    targets = "that there are no targets" if hop[1] is Outcome.SKIP else "targets"
    return dead.get(hop[:2]) or f"takes {targets}, and the loop records none"


def _dead_hops(graph: GraphView) -> dict[tuple[int, Outcome], str]:
    """The hops that never leave a loop, each with the reason in words."""
    found = {hop: f"is never taken: {why}" for hop, why in graph.never_taken.items()}
    for at, step in graph.distinct:
        if step.handler is not None and step.gate:
            found[at, Outcome.FAIL] = "takes a review that fails"
        elif isinstance(step.handler, Dispatch) and step.function is None:
            found[at, Outcome.FAIL] = "takes a sub-agent that fails"
        if outcomes.is_limited(step) and step.at_limit is not Outcome.ITERATE:
            found[at, Outcome.ITERATE] = "is taken no more at the limit"
    return found


def _closed_loops(graph: GraphView, members: set[int], dead: Collection[tuple[int, Outcome]]) -> Iterator[set[int]]:
    """The loops among ``members`` that nothing leaves without the dead hops."""
    live = [hop for hop in graph.hops(members) if hop[:2] not in dead]
    yielded: list[set[int]] = []
    for hops, barred in _target_cases(graph, live):
        inner: nx.DiGraph[int] = nx.DiGraph((node, target) for node, _, target in hops if target in members)
        for found in loops_in(inner):
            out = [hop for hop in live if hop[0] in found and hop[2] not in found]
            closed = all(hop in barred and graph.index.get(_targets_source(graph, hop[0])) not in found for hop in out)
            if closed and not any(found <= other for other in yielded):
                yielded.append(found)
                yield found


def _target_cases(graph: GraphView, live: list[Hop]) -> Iterator[tuple[list[Hop], set[Hop]]]:
    """The cases to check: the hops that may be taken, and the hops that only other recorded targets allow.

    Sub-agents whose targets are recorded are skipped each time, or never; a loop may have a smaller one in it that is
    closed in one of the two cases.
    """
    skips = {hop for hop in live if _targets_source(graph, hop[0]) and hop[1] is Outcome.SKIP}
    yield live, skips
    if skips:
        yield [hop for hop in live if hop not in skips], skips
    for source in sorted({_targets_source(graph, hop[0]) for hop in skips}):
        others = {hop for hop in live if _targets_source(graph, hop[0]) == source and hop not in skips}
        yield [hop for hop in live if hop not in others], others


def _targets_source(graph: GraphView, at: int) -> str:
    """The step that records the targets of a step's sub-agents; empty if none does."""
    handler = graph.steps[at].handler
    targets = handler.targets if isinstance(handler, Dispatch) else ()
    return targets.partition(".")[0] if isinstance(targets, str) else ""


@rule("warning", GRAPH)
def loop_without_bound(graph: GraphView) -> Iterator[Problem]:
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
    for part, bounded in free_loops(graph):
        if hops_by_word(graph, part, bounded):
            continue  # the rule unbounded-word-loop reports it
        cycle = graph.cycle(part, skip=bounded, first=first_reached(graph, part))
        limited = [node for node in part if graph.steps[node].max_iterations]
        what = f"nothing bounds the loop {graph.printed(cycle)}"
        if limited:
            what += f": max_iterations of {graph.listed(limited)} bounds its ITERATE and its FAIL only"
        yield Problem(
            what,
            why="an agent that is never satisfied goes round until its budget is spent",
            do="set max_iterations on the step that gives ITERATE or FAIL, or put a Gate or a Person on the loop",
            step=first_reached(graph, part),
        )


def free_loops(graph: GraphView) -> Iterator[tuple[set[int], set[tuple[int, Outcome]]]]:
    """The loops that nothing bounds, each with the bounded hops around it."""
    for members in graph.open_loops:
        if min(members) not in graph.reachable:
            continue
        bounded = _bounded_hops(graph, members)
        free: nx.DiGraph[int] = nx.DiGraph(
            (node, target)
            for node, outcome, target in graph.hops(members)
            if target in members and (node, outcome) not in bounded
        )
        for part in loops_in(free):
            yield part, bounded


def hops_by_word(graph: GraphView, part: Collection[int], bounded: Collection[tuple[int, Outcome]]) -> list[Hop]:
    """The unbounded hops within the part by a word of the workflow's own, or by DEFAULT that serves one."""
    hops = [hop for hop in graph.hops(sorted(part)) if hop[2] in part and hop[:2] not in bounded]
    return [hop for hop in hops if hop[1].is_own or (hop[1] is Outcome.DEFAULT and _serves_word(graph.steps[hop[0]]))]


def _serves_word(step: StepDef) -> bool:
    return any(word.is_own and word not in step.next for word in step.declared)


def _bounded_hops(graph: GraphView, members: set[int]) -> set[tuple[int, Outcome]]:
    """The routes that a run takes a bounded number of times, or never."""
    bounded = {(node, outcome) for node, outcome, _ in graph.hops(members) if (node, outcome) in graph.never_taken}
    for node in members:
        step = graph.steps[node]
        if isinstance(step.handler, (Gate, Person)) or is_gate(step):
            bounded.update((node, outcome) for outcome in step.next)
        elif step.max_iterations is not None:
            bounded.add((node, Outcome.FAIL))
            bounded.update((node, outcome) for outcome in step.next if outcome.is_own)
            if outcomes.is_limited(step):
                bounded.add((node, Outcome.ITERATE))
    return bounded


def first_reached(graph: GraphView, members: set[int]) -> int:
    """The step of a loop that a run reaches first, whatever the order in the file."""
    return min(members, key=lambda node: (graph.hops_from_start.get(node, len(graph.steps)), node))
