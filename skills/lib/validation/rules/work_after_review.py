"""Work is done between a review and its gate.

## What it does
Reports a step on a path from a review to its Gate that may change something: one with actions and with tools for it
(`edit`, `write`, `shell`, `agent`, or all), or with sub-agents that neither explore nor review.

## Why it is bad
What is changed there passes the gate unseen: the verdict is about what was there before.

## Example
```python
WORKFLOW = Workflow(
    "change",
    StepDef("work", "Make the change", "Make it.", {Outcome.OK: "review"}),
    StepDef(
        "review",
        "Review the change",
        "Wait for the reviewer.",
        {Outcome.OK: "tidy"},
        Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it.", checkpoint="change"),
    ),
    StepDef("tidy", "Tidy up", "Remove what is not needed.", {Outcome.OK: "gate"}),
    StepDef("gate", "Gate", "Go on.", {Outcome.OK: None, Outcome.FAIL: "work"}, Gate("change")),
)
```

## Use instead
```python
WORKFLOW = Workflow(
    "change",
    StepDef("work", "Make the change", "Make it.", {Outcome.OK: "tidy"}),
    StepDef("tidy", "Tidy up", "Remove what is not needed.", {Outcome.OK: "review"}),
    StepDef(
        "review",
        "Review the change",
        "Wait for the reviewer.",
        {Outcome.OK: "gate"},
        Dispatch(AgentRole.QUALITY_REVIEWER, task="Review it.", checkpoint="change"),
    ),
    StepDef("gate", "Gate", "Go on.", {Outcome.OK: None, Outcome.FAIL: "work"}, Gate("change")),
)
```
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from skills.lib.model.types import AgentRole, Dispatch, Gate, Person
from skills.lib.validation import review, walks
from skills.lib.validation.finding import Finding, Severity
from skills.lib.validation.view import GraphView

RULE = "work-after-review"
SEVERITY: Severity = "warning"
VALUE = "checkpoint"


def check(graph: GraphView) -> Iterator[Finding]:
    """Yield one finding per step and checkpoint at which reviewed work can be changed before its Gate."""
    gates = review.gates(graph)
    reviewers: dict[str, set[int]] = {}
    for at, checkpoint in review.reviews(graph) if gates else ():
        reviewers.setdefault(checkpoint, set()).add(at)
    for checkpoint, stops in gates.items():
        by = reviewers.get(checkpoint, set())
        for at in sorted(_between(graph, by, stops)):
            if not _may_change(graph, at):
                continue
            way = walks.listed(graph, by)
            yield graph.finding(
                RULE,
                SEVERITY,
                f"work is done at {graph.name(at)}, between the review of {checkpoint} ({way}) and its Gate",
                why="what is changed there passes the gate unseen",
                do="move it before the review, or give it tools that change nothing: read, search",
                step=at,
                value=checkpoint,
            )


def _between(graph: GraphView, by: Collection[int], stops: Collection[int]) -> set[int]:
    """The steps on a path from a review to a gate that passes neither another review of the checkpoint nor its gate."""
    routes, before = graph.routes, graph.digraph.pred
    ahead = _reached(by, lambda node: (target for _, target in routes[node]), {*by, *stops})
    return ahead & _reached(stops, lambda node: before[node], {*by, *stops})


def _reached(origins: Iterable[int], step_from: Callable[[int], Iterable[int]], avoid: Collection[int]) -> set[int]:
    found: set[int] = set()
    stack = list(origins)
    while stack:
        for node in step_from(stack.pop()):
            if node >= 0 and node not in found and node not in avoid:
                found.add(node)
                stack.append(node)
    return found


def _may_change(graph: GraphView, at: int) -> bool:
    """Whether an agent works at the step, with tools that can change something."""
    step = graph.steps[at]
    if isinstance(step.handler, Dispatch):
        return step.handler.agent not in (AgentRole.EXPLORE, AgentRole.QUALITY_REVIEWER)
    if isinstance(step.handler, (Gate, Person)) or not any(text.strip() for text in step.actions):
        return False
    tools = graph.workflow.tools_of(step)
    return not tools or any(tool in ("edit", "write", "agent") or tool.startswith("shell") for tool in tools)
