"""What an author states of all paths."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from skills.lib.errors import did_you_mean, nearest
from skills.lib.model.types import Before, NeverEndsFailed, Outcome, Passes
from skills.lib.record import Record
from skills.lib.validation.rule import GRAPH, Problem, rule
from skills.lib.validation.topology import END, Hop
from skills.lib.validation.view import GraphView


@rule("error", GRAPH)
def always(graph: GraphView) -> Iterator[Problem]:
    """A property that the author states of all paths does not hold.

    ## What it does
    Reports each property under `always` of a Workflow that some path breaks, with the path: `Before("a", "b")`, step a is
    passed before step b; `Passes("a")`, no run ends without step a but by FAIL; `NeverEndsFailed("c")`, no route leads from
    a FAIL of checkpoint c to the end past its reviewers, not even through a question to a person. (What a person accepts at
    the gate itself, once its bound is reached, is no route.)

    ## Why it is bad
    The author relies on it. A route that is added later breaks it, and no other rule knows of it.

    ## Example
    ```python
    WORKFLOW = Workflow(
        "release",
        StepDef(
            "build",
            "Build",
            next={Outcome.OK: "test", Outcome.SKIP: "publish"},
            when={Outcome.OK: "there is code", Outcome.SKIP: "there is none"},
        ),
        StepDef("test", "Test", next={Outcome.OK: "publish"}),
        StepDef("publish", "Publish", next={Outcome.OK: None}),
        always=[Before("test", "publish")],
    )
    ```

    ## Use instead
    ```python
    WORKFLOW = Workflow(
        "release",
        StepDef("build", "Build", next={Outcome.OK: "test"}),
        StepDef("test", "Test", next={Outcome.OK: "publish"}),
        StepDef("publish", "Publish", next={Outcome.OK: None}),
        always=[Before("test", "publish")],
    )
    ```
    """
    for stated in graph.workflow.always:
        what = _unknown(graph, stated) or _broken(graph, stated)
        if what:
            yield Problem(
                f"{stated!r}: {what}",
                why="the workflow states it of all paths, and its author relies on it",
                do="close the path, or take the property out",
            )


def _unknown(graph: GraphView, stated: Record) -> str:
    if isinstance(stated, NeverEndsFailed):
        known = {*graph.reviewers, *graph.gates}
        near = did_you_mean(nearest(stated.checkpoint, known))
        return "" if stated.checkpoint in known else f"no step reviews {stated.checkpoint}{near}"
    for name in stated.fields().values():
        if name not in graph.index:
            return f"there is no step {name}{did_you_mean(graph.nearest(name))}"
    return ""


def _broken(graph: GraphView, stated: Record) -> str:
    """The path that breaks the property, in words; empty if none does."""
    hops: list[Hop] = []
    if isinstance(stated, Before):
        first, then = graph.index[stated.first], graph.index[stated.then]
        hops = _from_starts(graph, then, {first})
    elif isinstance(stated, Passes):
        hops = _from_starts(graph, END, {graph.index[stated.step]}, graph.failing_ends)
    elif isinstance(stated, NeverEndsFailed):
        reviewers = graph.reviewers.get(stated.checkpoint, set())
        for gate in sorted(graph.deciding(stated.checkpoint)):
            key = Outcome.FAIL if Outcome.FAIL in graph.steps[gate].next else Outcome.DEFAULT
            target = next((target for outcome, target in graph.routes[gate] if outcome is key), None)
            if target == END:
                continue  # it ends by FAIL
            if target is not None and target >= 0 and target not in reviewers:
                hops = graph.search(target, lambda node: node == END, avoid=reviewers, skip=graph.failing_ends)
            if hops:
                break
    return f"a path breaks it: {graph.printed(hops)}" if hops else ""


def _from_starts(
    graph: GraphView, goal: int, avoid: Collection[int], skip: Collection[tuple[int, Outcome]] = ()
) -> list[Hop]:
    for start in graph.starts:
        if start in avoid or start == END:
            continue
        if start == goal:
            return [(start, Outcome.OK, start)]
        found = graph.search(start, lambda node: node == goal, avoid=avoid, skip=skip)
        if found:
            return found
    return []
