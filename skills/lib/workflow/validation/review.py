"""Which steps review, and which decide on a review."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from skills.lib.workflow.core import StepDef
from skills.lib.workflow.types import AgentRole, Dispatch, Gate, Outcome

if TYPE_CHECKING:
    from skills.lib.workflow.validation.graph import GraphView


def is_review(step: StepDef) -> bool:
    """Whether the step's sub-agents review: with a checkpoint, or as quality reviewers that no function judges."""
    handler = step.handler
    if not isinstance(handler, Dispatch):
        return False
    return bool(handler.checkpoint) or (handler.agent is AgentRole.QUALITY_REVIEWER and not handler.then)


def is_gate(step: StepDef) -> bool:
    """Whether the step is a review that is its own gate: it has a FAIL route."""
    return step.handler is not None and Outcome.FAIL in step.next and step.checkpoint is not None


def reviews(graph: GraphView) -> Iterator[tuple[int, str]]:
    """The steps whose reviews the engine counts, each with its checkpoint."""
    for at, step in graph.distinct:
        if step.handler is not None and (name := step.checkpoint) is not None:
            yield at, name


def gates(graph: GraphView) -> dict[str, set[int]]:
    """The Gate steps by checkpoint."""
    found: dict[str, set[int]] = {}
    for at, step in graph.distinct:
        if isinstance(step.handler, Gate):
            found.setdefault(step.handler.checkpoint, set()).add(at)
    return found


def bypassed(graph: GraphView, gate: int, reviewers: Collection[int]) -> bool:
    """Whether a walk from the start comes to the gate past none of ``reviewers``.

    Searched backwards from the gate, so that in a sound graph no more than the way from review to gate is looked at.
    """
    seen = {gate}
    stack = [gate]
    while stack:
        node = stack.pop()
        if node == graph.start:
            return True
        for before in graph.digraph.pred[node]:
            if before not in seen and before not in reviewers:
                seen.add(before)
                stack.append(before)
    return False
