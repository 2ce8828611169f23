"""Which steps review, and which decide on a review."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from skills.lib.model.steps import StepDef
from skills.lib.model.types import AgentRole, Dispatch, Gate, Outcome
from skills.lib.validation import outcomes
from skills.lib.validation.topology import END

if TYPE_CHECKING:
    from skills.lib.validation.topology import Topology


def is_review(step: StepDef) -> bool:
    """Whether the step's sub-agents review: with a checkpoint, or as quality reviewers that no function judges."""
    handler = step.handler
    if not isinstance(handler, Dispatch):
        return False
    return bool(handler.checkpoint) or (handler.agent is AgentRole.QUALITY_REVIEWER and not handler.then)


def is_gate(step: StepDef) -> bool:
    """Whether the step is a review that is its own gate: it has a FAIL route."""
    return step.handler is not None and Outcome.FAIL in step.next and step.checkpoint is not None


def reviews(graph: Topology) -> Iterator[tuple[int, str]]:
    """The steps whose reviews the engine counts, each with its checkpoint."""
    for at, step in graph.distinct:
        if step.handler is not None and (name := step.checkpoint) is not None:
            yield at, name


def gates(graph: Topology) -> dict[str, set[int]]:
    """The Gate steps by checkpoint."""
    found: dict[str, set[int]] = {}
    for at, step in graph.distinct:
        if isinstance(step.handler, Gate):
            found.setdefault(step.handler.checkpoint, set()).add(at)
    return found


def covering(graph: Topology) -> dict[str, set[int]]:
    """The reviewers' steps that say which files they cover, by checkpoint."""
    found: dict[str, set[int]] = {}
    for at, checkpoint in reviews(graph):
        if graph.steps[at].covers:
            found.setdefault(checkpoint, set()).add(at)
    return found


def deciding(graph: Topology, checkpoint: str) -> set[int]:
    """The steps that decide on a checkpoint: its Gates, and reviews of it that are their own."""
    found = set(gates(graph).get(checkpoint, ()))
    return found | {at for at, name in reviews(graph) if name == checkpoint and is_gate(graph.steps[at])}


def stale_targets(graph: Topology) -> dict[str, int]:
    """Where the fallen verdict of each checkpoint leads, if its review covers files and a gate says so."""
    found: dict[str, int] = {}
    for checkpoint in covering(graph):
        for at in deciding(graph, checkpoint):
            gate = graph.steps[at].gate
            if gate and gate.stale in graph.index:
                found.setdefault(checkpoint, graph.index[gate.stale])
    return found


def falling(graph: Topology, checkpoint: str) -> set[int]:
    """The steps at whose leaving a verdict may be found to have fallen: its gates, and what ends a run after them."""
    stops = deciding(graph, checkpoint)
    found, queue = set(stops), list(stops)
    seen = set(stops)
    while queue:
        node = queue.pop()
        for _, target in graph.routes[node]:
            if target == END:
                found.add(node)
            elif target >= 0 and target not in seen:
                seen.add(target)
                queue.append(target)
    return found


def judging_hops(graph: Topology, reviewers: Collection[int]) -> set[tuple[int, Outcome]]:
    """The hops on which a review is made: every one out of ``reviewers``, but for a SKIP that a run can take."""
    return {(at, outcome) for at in reviewers for outcome, _ in graph.routes[at] if not skips(graph, at, outcome)}


def skips(graph: Topology, at: int, outcome: Outcome) -> bool:
    """True if the outcome is a SKIP that a run can take at the step."""
    return outcome is Outcome.SKIP and Outcome.SKIP in outcomes.with_skip(graph.steps[at], frozenset())
