"""Nothing reads the verdict of a review.

## What it does
Reports a step that dispatches reviewers, where a path leads to the end without passing the Gate of that checkpoint.
A review that is its own gate (a quality reviewer's Dispatch with OK and FAIL routes) needs no other.

## Why it is bad
The second pillar of a review loop, the stop condition, is missing: findings are written and nobody acts on them.

## Example
```python
WORKFLOW = Workflow(
    "change",
    StepDef("work", "Make the change", next={Outcome.OK: "review"}),
    StepDef(
        "review",
        "Review the change",
        next={Outcome.OK: None},
        handler=Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it.", checkpoint="change"),
    ),
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

from skills.lib.model.types import Outcome
from skills.lib.validation import review, walks
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.topology import END
from skills.lib.validation.view import GraphView

RULE = "review-without-gate"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per review that a path leaves unheard."""
    gates = review.gates(graph)
    for at, step in enumerate(graph.steps):
        if not review.is_review(step) or review.is_gate(step):
            continue
        checkpoint = step.checkpoint
        if checkpoint is None:
            yield graph.finding(
                RULE,
                SEVERITY,
                f"{step.id} dispatches a quality reviewer without a checkpoint and without a FAIL route",
                why="the stop condition is missing: whatever the reviewer finds, the run goes on",
                do="add Outcome.FAIL: with the step that does the work, or a checkpoint and a Gate for it",
                step=at,
            )
            continue
        stops = gates.get(checkpoint, set())
        # A review that is skipped found nothing that a gate would have to hear.
        skip = {(at, Outcome.SKIP)} if (at, Outcome.SKIP) not in review.judging_hops(graph, {at}) else set()
        if stops and walks.search(graph, at, lambda node: node == END, avoid=stops, skip=skip) is None:
            continue
        way = graph.example(at, lambda node: node == END, avoid=stops, skip=skip)
        what = f"the review of {checkpoint} at {graph.name(at)} is followed by no Gate"
        if stops:
            what = f"a path leads from the review of {checkpoint} at {graph.name(at)} past its Gate"
        yield graph.finding(
            RULE,
            SEVERITY,
            what + (f": {way}" if way else ""),
            why="the stop condition is missing: findings are written and nobody acts on them",
            do=f'put a step with handler=Gate("{checkpoint}") on every path, or build the loop with review_loop()',
            step=at,
        )
