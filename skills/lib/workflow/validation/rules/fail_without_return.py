"""A failed review does not lead back to the work.

## What it does
Reports a gate (or a review that is its own gate) without a FAIL route, and one whose FAIL route leads to the end, to
the review itself, or to where the review is never reached again.

## Why it is bad
The third pillar of a review loop is missing: what the review found is not mended and verified again. Without a FAIL
route a failed review stops the run.

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

from skills.lib.workflow.types import Outcome
from skills.lib.workflow.validation import review, walks
from skills.lib.workflow.validation.finding import Finding, Severity
from skills.lib.workflow.validation.graph import GraphView
from skills.lib.workflow.validation.walks import END, UNKNOWN

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
        problem = _problem(graph, at, reviewers.get(checkpoint) or {at}) if graph.steps[at].next else None
        if problem:
            yield graph.finding(
                RULE,
                SEVERITY,
                f"{graph.name(at)} decides on the review of {checkpoint}: {problem}",
                why="what the review found is not mended and verified again",
                do="lead FAIL to the step that does the work, from which the review is reached again",
                step=at,
                outcome=Outcome.FAIL,
            )


def _problem(graph: GraphView, at: int, reviewers: set[int]) -> str | None:
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
        return f"{way} reviews again what nobody has mended"
    if walks.search(graph, target, lambda node: node in reviewers) is None:
        return f"{way} leads where the review is never reached again"
    return None
