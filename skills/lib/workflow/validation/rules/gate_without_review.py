"""A gate asks for a verdict that nobody gives.

## What it does
Reports a Gate whose checkpoint no step reviews, and one that a path reaches without passing the review.

## Why it is bad
The gate has no verdict to read and refuses every command: the run cannot go on.

## Example
```python
WORKFLOW = Workflow(
    "change",
    StepDef("work", "Make the change", next={Outcome.OK: "gate"}),
    StepDef("gate", "Gate", next={Outcome.OK: None, Outcome.FAIL: "work"}, handler=Gate("change")),
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
        next={Outcome.OK: "gate"},
        handler=Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it.", checkpoint="change"),
    ),
    StepDef("gate", "Gate", next={Outcome.OK: None, Outcome.FAIL: "work"}, handler=Gate("change")),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.workflow.validation import review
from skills.lib.workflow.validation.finding import Finding, Severity
from skills.lib.workflow.validation.graph import GraphView
from skills.lib.workflow.validation.nearest import Nearest, did_you_mean

RULE = "gate-without-review"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per gate without a verdict."""
    gates = review.gates(graph)
    if not gates:
        return
    reviewers: dict[str, set[int]] = {}
    for at, checkpoint in review.reviews(graph):
        reviewers.setdefault(checkpoint, set()).add(at)
    nearest = Nearest(reviewers)
    for checkpoint, steps in gates.items():
        for at in steps:
            by = reviewers.get(checkpoint)
            if by and not review.bypassed(graph, at, by):
                continue
            what = f"{graph.name(at)} is the Gate of {checkpoint}, which no step reviews"
            what += did_you_mean(nearest.to(checkpoint))
            if by:
                way = graph.example(graph.start, lambda node, at=at: node == at, avoid=by)  # type: ignore[misc]
                what = f"a path comes to the Gate {graph.name(at)} without a review of {checkpoint}"
                what += f": {way}" if way else ""
            yield graph.finding(
                RULE,
                SEVERITY,
                what,
                why="the gate has no verdict to read and lets nothing pass",
                do=f'dispatch reviewers with checkpoint="{checkpoint}" on every path before it, or use review_loop()',
                step=at,
            )
