"""A failed review does not lead back to the work.

## What it does
Reports a gate (or a review that is its own gate) without a FAIL route, and one whose FAIL route leads to the end, to
the review itself, or to where the review is never reached again; and one behind whose FAIL a path leads to the end past
the reviewers. Such a path may go through a Person, who then knows of the findings, or end by FAIL: the run has failed.

## Why it is bad
The third pillar of a review loop is missing: what the review found is not fixed and verified again. Without a FAIL
route a failed review stops the run. An agent in a hurry takes the way past the review, and the run ends as failed.

## Example
```python
WORKFLOW = Workflow(
    "change",
    StepDef("work", "Make the change", next={Outcome.OK: "review"}),
    StepDef(
        "review",
        "Review the change",
        next={Outcome.OK: "publish", Outcome.FAIL: "publish"},
        handler=Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it."),
    ),
    StepDef("publish", "Publish", next={Outcome.OK: None}),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "change",
    StepDef("work", "Make the change", next={Outcome.OK: "review"}),
    StepDef(
        "review",
        "Review the change",
        next={Outcome.OK: "publish", Outcome.FAIL: "work"},
        handler=Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it."),
    ),
    StepDef("publish", "Publish", next={Outcome.OK: None}),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model.types import Outcome, Person
from skills.lib.validation import review, walks
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.topology import END, UNKNOWN
from skills.lib.validation.view import GraphView

RULE = "fail-without-return"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per gate that does not lead back."""
    reviewers: dict[str, set[int]] = {}
    for at, checkpoint in review.reviews(graph):
        reviewers.setdefault(checkpoint, set()).add(at)
    stops = [(at, checkpoint) for checkpoint, steps in review.gates(graph).items() for at in steps]
    stops += [
        (at, checkpoint) for checkpoint, steps in reviewers.items() for at in steps if review.is_gate(graph.steps[at])
    ]
    for at, checkpoint in sorted(stops):
        if at not in graph.reachable:
            continue
        problem = _problem(graph, at, checkpoint, reviewers.get(checkpoint) or {at}) if graph.steps[at].next else None
        if problem:
            yield graph.finding(
                RULE,
                SEVERITY,
                f"{graph.name(at)} decides on the review of {checkpoint}: {problem}",
                why="what the review found is not fixed and verified again",
                do="lead FAIL to the step that does the work, from which the review is reached again",
                step=at,
                outcome=Outcome.FAIL,
            )


def _problem(graph: GraphView, at: int, checkpoint: str, reviewers: set[int]) -> str | None:
    step = graph.steps[at]
    key = Outcome.FAIL if Outcome.FAIL in step.next else Outcome.DEFAULT
    target = next((target for outcome, target in graph.routes[at] if outcome is key), None)
    if target is None:
        return "it has no route for fail"
    way = f"{step.id} -fail-> {graph.name(target)}"
    if target == UNKNOWN:
        return None
    if target == END:
        return f"{way} ends the run although the review failed"
    if target in reviewers:
        return f"{way} reviews again what nobody has fixed"
    if walks.search(graph, target, lambda node: node in reviewers) is None:
        return f"{way} leads where the review is never reached again"
    stops = review.deciding(graph, checkpoint)
    past = _past(graph, target, reviewers, {(stop, Outcome.OK) for stop in stops})
    return f"{way} leads to work from which a path ends the run past the review: {past}" if past else None


def _past(graph: GraphView, target: int, reviewers: set[int], shut: set[tuple[int, Outcome]]) -> str:
    """A walk from the work to the end without a review, without a Person, and not by FAIL; empty if there is none.

    ``shut`` are the ways through the checkpoint's gates, which open on no verdict but a new one.
    """
    people = {at for at, step in graph.distinct if isinstance(step.handler, Person)}
    if target in people:
        return ""
    failing = {(at, Outcome.FAIL) for at, ways in enumerate(graph.routes) if (Outcome.FAIL, END) in ways}
    skip = failing | shut | set(graph.never_taken)
    hops = walks.search(graph, target, lambda node: node == END, avoid=reviewers | people, skip=skip)
    return walks.printed(graph, hops or ())
