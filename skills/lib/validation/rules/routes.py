"""Where routes lead: to steps that exist, from the start to every step, and on from each."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Iterator

from skills.lib.errors import did_you_mean
from skills.lib.validation.rule import GRAPH, Problem, rule
from skills.lib.validation.topology import END
from skills.lib.validation.view import GraphView


@rule("error", GRAPH, stops=True)
def unknown_target(graph: GraphView) -> Iterator[Problem]:
    """A route leads to a step that does not exist.

    ## What it does
    Reports every route whose target is no step of the workflow, and names the step that was probably meant. For a word that
    means the end, such as `"done"`, it says to write `None`.

    ## Why it is bad
    A run that ends the step with that outcome has nowhere to go.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "tea",
        StepDef("boil", "Boil water", next={Outcome.OK: "step"}),
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
    index = graph.index
    for at, step in enumerate(graph.steps):
        for outcome, target in step.next.items():
            if target is None or target in index:
                continue
            meant = graph.meant(target)
            near = "" if meant < 0 else graph.name(meant)
            what = f"{step.id} -{outcome.value}-> {target}: there is no step {target!r}{did_you_mean(near)}"
            do = f"lead it to {near or 'a step of this workflow'}, or to None for the end"
            if meant == END:
                do = f"{target} is the end of a run: write None"
            yield Problem(
                what,
                why=f"a run that ends {step.id} with {outcome.value} has nowhere to go",
                do=do,
                step=at,
                outcome=outcome,
            )


@rule("error", GRAPH)
def unreachable_step(graph: GraphView) -> Iterator[Problem]:
    """No run can come to a step.

    ## What it does
    Reports the steps that a search from the start does not find. Connected steps are one finding, at the step
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
    if len(graph.reachable) == len(graph.index):
        return
    into: dict[int, set[int]] = {}
    for node, _, target in graph.hops(range(len(graph.steps))):
        if node != target:
            into.setdefault(target, set()).add(node)
    reached = sorted(graph.reachable)
    for island, members in graph.islands:
        entries = [at for at in island if not unreachable_step.waiver(graph.steps[at])]
        for some in (entries, *[[at] for at in island if at not in entries]):
            if some:
                before = bisect(reached, some[0])
                source = reached[before - 1] if before else graph.start
                yield _island(graph, some, members - set(island), into.get(some[0]), source)


def _island(
    graph: GraphView, entries: list[int], others: Collection[int], into: Collection[int] | None, source: int
) -> Problem:
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
    return Problem(
        what,
        why=f"no run ever does what {'these steps ask' if several else 'this step asks'}",
        do=f"lead {graph.name(source)}, or another step that is reached, to {named}; "
        f"or delete {'all that is not reached' if several else 'it'}",
        step=entries[0],
    )


def _and(graph: GraphView, nodes: Collection[int]) -> str:
    """The steps by name, as a sentence lists them."""
    names = graph.listed(nodes)
    first, comma, last = names.rpartition(", ")
    return f"{first} and {last}" if comma and " more" not in last else names


@rule("error", GRAPH, stops=True)
def dead_end(graph: GraphView) -> Iterator[Problem]:
    """A step has no route out.

    ## What it does
    Reports every step without a single route.

    ## Why it is bad
    A run that reaches it can neither go on nor end.

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
        StepDef("steep", "Let it steep"),
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
        StepDef("steep", "Let it steep", next={Outcome.OK: None}),
    )
    ```
    """
    for at, step in enumerate(graph.steps):
        if not step.next:
            yield Problem(
                f"{step.id} has no route out",
                why="a run that comes here can neither go on nor end",
                do="give it next={Outcome.OK: ...}, with None where the workflow ends",
                step=at,
            )
