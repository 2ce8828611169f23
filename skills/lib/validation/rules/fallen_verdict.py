"""A verdict that falls with its files leads nowhere.

## What it does
Reports a review that says which files it covers, where its Gate names no `stale` step, or one from which the review is
not reached again or a path leads to the end past it; a `stale` without `covers`; and `covers` or `checks` of
sub-agents that review nothing.

## Why it is bad
A verdict holds for the files as the reviewers saw them. If one is changed later, the run goes back to `stale`; without
that, or without a review behind it, only a person can let the run end.

## Example
```python
WORKFLOW = Workflow(
    "change",
    StepDef("work", "Make the change", next={Outcome.OK: "review"}),
    StepDef(
        "review",
        "Review the change",
        next={Outcome.OK: "gate"},
        handler=Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it.", checkpoint="change", covers=["src/**"]),
    ),
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
        handler=Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it.", checkpoint="change", covers=["src/**"]),
    ),
    StepDef("gate", "Gate", next={Outcome.OK: None, Outcome.FAIL: "work"}, handler=Gate("change", stale="review")),
)
```
"""

from __future__ import annotations

from collections.abc import Iterator

from skills.lib.model.types import Dispatch, Gate, Outcome, Person
from skills.lib.validation import review, walks
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.nearest import did_you_mean
from skills.lib.validation.topology import END
from skills.lib.validation.view import GraphView

RULE = "fallen-verdict"
SEVERITY: Severity = "error"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per gate whose verdict may fall and leads nowhere, and per declaration without a meaning."""
    covering = review.covering(graph)
    for at, step in graph.distinct:
        problem = _of_dispatch(step.handler) if isinstance(step.handler, Dispatch) and not step.checkpoint else ""
        if isinstance(step.handler, Gate):
            problem = _of_gate(graph, step.handler, covering.get(step.handler.checkpoint, set()))
        if problem:
            yield graph.finding(
                RULE,
                SEVERITY,
                f"{step.id}: {problem}",
                why="a verdict holds for the files that the reviewers saw; when they change, a new one is needed",
                do="name the review step, or the step that does the work, as stale of the Gate",
                step=at,
            )


def _of_dispatch(dispatch: Dispatch) -> str:
    named = [name for name in ("covers", "checks") if getattr(dispatch, name)]
    return f"{' and '.join(named)} of sub-agents that review no checkpoint do nothing" if named else ""


def _of_gate(graph: GraphView, gate: Gate, reviewers: set[int]) -> str:
    if not reviewers:
        covers = f"no review of {gate.checkpoint} says which files it covers"
        return f"stale leads nowhere, for {covers}" if gate.stale else ""
    if not gate.stale:
        return f"the review of {gate.checkpoint} covers files, and the Gate does not say where a fallen verdict leads"
    if gate.stale not in graph.index:
        return f"stale names {gate.stale!r}, which is no step{did_you_mean(graph.nearest.to(str(gate.stale)))}"
    target = graph.index[gate.stale]
    every = {at for at, name in review.reviews(graph) if name == gate.checkpoint}
    if target in every:
        return ""
    way = f"stale leads to {gate.stale}"
    if walks.search(graph, target, lambda node: node in every) is None:
        return f"{way}, from where the review of {gate.checkpoint} is never reached again"
    people = {at for at, step in graph.distinct if isinstance(step.handler, Person)}
    failing = {(at, Outcome.FAIL) for at, ways in enumerate(graph.routes) if (Outcome.FAIL, END) in ways}
    hops = None
    if target not in people:
        skip = failing | set(graph.never_taken)
        hops = walks.search(graph, target, lambda node: node == END, avoid=every | people, skip=skip)
    return f"{way}, from where a path ends the run past the review: {walks.printed(graph, hops)}" if hops else ""
