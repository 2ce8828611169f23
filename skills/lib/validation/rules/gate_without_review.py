"""A gate asks for a verdict that nobody gives.

## What it does
Reports a Gate whose checkpoint no step reviews, one that a path reaches without passing the review, and one that a path
leads back to without passing it again. A review that ends with SKIP, because it had no target, is none.

## Why it is bad
The gate has no verdict to read and refuses every command, and the run cannot go on. Or it reads the verdict of an
earlier review: it passes what was changed since, or sends back again what nobody has looked at.

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

from collections.abc import Collection, Iterator

from skills.lib.model.types import Outcome
from skills.lib.validation import review, walks
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.nearest import Nearest, did_you_mean
from skills.lib.validation.unreviewed import unreviewed
from skills.lib.validation.view import GraphView

RULE = "gate-without-review"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per gate without a verdict of its own."""
    gates = review.gates(graph)
    if not gates:
        return
    reviewers: dict[str, set[int]] = {}
    for at, checkpoint in review.reviews(graph):
        reviewers.setdefault(checkpoint, set()).add(at)
    nearest = Nearest(reviewers)
    for checkpoint, steps in gates.items():
        by = reviewers.get(checkpoint)
        for at in steps:
            without = unreviewed(graph, at, by) if by else {at}
            why = "the gate has no verdict to read and lets nothing pass"
            do = f'dispatch reviewers with checkpoint="{checkpoint}" on every path before it, or use review_loop()'
            if not by:
                what = f"{graph.name(at)} is the Gate of {checkpoint}, which no step reviews"
                what += did_you_mean(nearest.to(checkpoint))
            elif graph.start in without:
                what = f"a path comes to the Gate {graph.name(at)} without a review of {checkpoint}"
                what += _way(graph, graph.start, at, review.judging_hops(graph, by))
            elif at in graph.reachable and (ahead := _leads_ahead(graph, at, by, without)) is not None:
                what = f"a path leads from the Gate {graph.name(at)} back to it without a review of {checkpoint}"
                what += _way(graph, at, at, review.judging_hops(graph, by) | ahead)
                why = (
                    "the gate reads the verdict of the review before: it passes what changed since, or fails it unseen"
                )
            elif (spent := _spent(graph, at, review.deciding(graph, checkpoint), without)) is not None:
                what = f"a path leads from the Gate {graph.name(spent)} to {graph.name(at)} without a review between"
                what += _way(graph, spent, at, review.judging_hops(graph, by) | _but_ok(graph, spent))
                why = "a verdict serves one gate: the second refuses every command, and the run cannot go on"
            else:
                continue
            skipped = without & (by or set())
            if skipped:
                do = (
                    f"give {walks.listed(graph, skipped)} a target in any case and leave its skip out, or let it be "
                    f"its own gate: Outcome.FAIL with the step that does the work, in place of {graph.name(at)}"
                )
            yield graph.finding(RULE, SEVERITY, what, why=why, do=do, step=at)


def _leads_ahead(
    graph: GraphView, at: int, by: Collection[int], without: Collection[int]
) -> set[tuple[int, Outcome]] | None:
    """The hops of the gate after which a review comes first; None where that is so of each of them.

    A FAIL after which no review is ever reached counts as one: fail-without-return tells it.
    """
    ahead = {
        (at, outcome)
        for outcome, target in graph.routes[at]
        if target not in without
        or (outcome is not Outcome.OK and walks.search(graph, target, lambda node: node in by) is None)
    }
    return ahead if len(ahead) < len(graph.routes[at]) else None


def _spent(graph: GraphView, at: int, gates: Collection[int], without: Collection[int]) -> int | None:
    """Another gate of the checkpoint whose OK leads to this one without a review, so that its verdict is used up."""
    for other in sorted(gates):
        if other == at or other not in graph.reachable:
            continue
        if any(outcome is Outcome.OK and target in without for outcome, target in graph.routes[other]):
            return other
    return None


def _but_ok(graph: GraphView, at: int) -> set[tuple[int, Outcome]]:
    return {(at, outcome) for outcome, _ in graph.routes[at] if outcome is not Outcome.OK}


def _way(graph: GraphView, origin: int, gate: int, skip: Collection[tuple[int, Outcome]]) -> str:
    way = graph.example(origin, lambda node: node == gate, skip=skip)
    return f": {way}" if way else ""
