"""Searches for walks in a graph, and walks as text: ``investigate -iterate-> investigate``."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skills.lib.model.types import Outcome
    from skills.lib.validation.topology import Hop, Topology

# A longer walk is printed with its middle left out.
SHOWN = 60


def search(
    graph: Topology,
    origin: int,
    goal: Callable[[int], bool],
    *,
    within: Collection[int] | None = None,
    avoid: Collection[int] = (),
    skip: Collection[tuple[int, Outcome]] = (),
) -> list[Hop] | None:
    """The shortest walk of one hop or more from ``origin`` to a goal, or None; END and UNKNOWN are never passed."""
    came: dict[int, tuple[int, Outcome]] = {}
    queue = deque((origin,))
    while queue:
        node = queue.popleft()
        for outcome, target in graph.routes[node]:
            if skip and (node, outcome) in skip:
                continue
            if goal(target):
                return _hops(came, origin, node, outcome, target)
            if target < 0 or target in came or target in avoid or (within is not None and target not in within):
                continue
            came[target] = (node, outcome)
            queue.append(target)
    return None


def _hops(came: dict[int, tuple[int, Outcome]], origin: int, node: int, outcome: Outcome, target: int) -> list[Hop]:
    hops = [(node, outcome, target)]
    while node != origin:
        before, outcome = came[node]
        hops.append((before, outcome, node))
        node = before
    return hops[::-1]


def cycle(
    graph: Topology, members: Collection[int], skip: Collection[tuple[int, Outcome]] = (), first: int | None = None
) -> list[Hop]:
    """The shortest cycle through ``first``, else through the first of ``members``, that stays among them."""
    first = min(members) if first is None else first
    return search(graph, first, lambda node: node == first, within=members, skip=skip) or []


def printed(graph: Topology, hops: Iterable[Hop]) -> str:
    """The walk as text."""
    hops = list(hops)
    if not hops:
        return ""
    parts = [graph.name(hops[0][0])]
    parts += [f"-{outcome.value}-> {graph.name(target)}" for _, outcome, target in hops]
    if len(parts) > SHOWN:
        left_out = len(parts) - SHOWN
        parts = [*parts[: SHOWN - 10], f"… ({left_out} more) …", *parts[-10:]]
    return " ".join(parts)


def listed(graph: Topology, nodes: Iterable[int], most: int = 12) -> str:
    """The steps by name in the order of the workflow, at most ``most`` of them."""
    ordered = sorted(nodes)
    names = ", ".join(graph.name(node) for node in ordered[:most])
    return f"{names} and {len(ordered) - most} more" if len(ordered) > most else names
