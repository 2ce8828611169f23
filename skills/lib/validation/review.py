"""Which steps review, and which decide on a review."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from skills.lib.model.steps import StepDef
from skills.lib.model.types import AgentRole, Dispatch, Gate, Outcome, Person
from skills.lib.validation import outcomes, walks
from skills.lib.validation.topology import END

if TYPE_CHECKING:
    from skills.lib.validation.topology import Topology


def is_review(step: StepDef) -> bool:
    """True if the step's sub-agents review: with a checkpoint, or as quality reviewers without a deciding function."""
    handler = step.handler
    if not isinstance(handler, Dispatch):
        return False
    return bool(handler.checkpoint) or (handler.agent is AgentRole.QUALITY_REVIEWER and not handler.then)


def is_gate(step: StepDef) -> bool:
    """True if the step is a review that is its own gate: it has a FAIL route."""
    return step.handler is not None and Outcome.FAIL in step.next and step.checkpoint is not None


def reviews(graph: Topology) -> Iterator[tuple[int, str]]:
    """The steps whose reviews the engine counts, each with its checkpoint."""
    for at, step in graph.distinct:
        if step.handler is not None and (name := step.checkpoint) is not None:
            yield at, name


def reviewers(graph: Topology) -> dict[str, set[int]]:
    """The steps of ``reviews`` by checkpoint."""
    found: dict[str, set[int]] = {}
    for at, checkpoint in reviews(graph):
        found.setdefault(checkpoint, set()).add(at)
    return found


def gates(graph: Topology) -> dict[str, set[int]]:
    """The Gate steps by checkpoint."""
    found: dict[str, set[int]] = {}
    for at, step in graph.distinct:
        if isinstance(step.handler, Gate):
            found.setdefault(step.handler.checkpoint, set()).add(at)
    return found


def covering(graph: Topology) -> dict[str, set[int]]:
    """The reviewers' steps that say which files they cover, by checkpoint."""
    covers = {name: {at for at in steps if graph.steps[at].covers} for name, steps in reviewers(graph).items()}
    return {name: steps for name, steps in covers.items() if steps}


def deciding(graph: Topology, checkpoint: str) -> set[int]:
    """The steps that decide on a checkpoint: its Gates, and reviews of it that are their own."""
    own = {at for at in reviewers(graph).get(checkpoint, ()) if is_gate(graph.steps[at])}
    return own | gates(graph).get(checkpoint, set())


def stale_targets(graph: Topology) -> dict[str, int]:
    """The step to return to if covered files changed, by checkpoint, as far as a gate names one."""
    found: dict[str, int] = {}
    for checkpoint in covering(graph):
        for at in deciding(graph, checkpoint):
            gate = graph.steps[at].gate
            if gate and gate.stale in graph.index:
                found.setdefault(checkpoint, graph.index[gate.stale])
    return found


def falling(graph: Topology, checkpoint: str) -> set[int]:
    """The steps that check if covered files changed: the gates, and the steps that end a run after them."""
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


def way_past(
    graph: Topology, origin: int, reviewing: Collection[int], shut: Collection[tuple[int, Outcome]] = ()
) -> str:
    """A walk from a step to the end without a review, without a Person, and not by FAIL; empty if there is none.

    ``shut`` are the hops through the checkpoint's gates, which open on no verdict but a new one.
    """
    people = {at for at, step in graph.distinct if isinstance(step.handler, Person)}
    if origin in people:
        return ""
    skip = {*graph.failing_ends, *shut, *graph.never_taken}
    hops = walks.search(graph, origin, lambda node: node == END, avoid={*reviewing, *people}, skip=skip)
    return walks.printed(graph, hops or ())


def judging_hops(graph: Topology, reviewing: Collection[int]) -> set[tuple[int, Outcome]]:
    """The hops out of ``reviewing`` that leave a review behind: all but a SKIP that a run can take."""
    return {(at, outcome) for at in reviewing for outcome, _ in graph.routes[at] if not skips(graph, at, outcome)}


def skips(graph: Topology, at: int, outcome: Outcome) -> bool:
    """True if the outcome is a SKIP that a run can take at the step."""
    return outcome is Outcome.SKIP and Outcome.SKIP in outcomes.with_skip(graph.steps[at], frozenset())
