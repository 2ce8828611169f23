"""The dominators of the graph: which steps every run has passed before it reaches another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import networkx as nx

if TYPE_CHECKING:
    from skills.lib.validation.graph import Graph

# Bits of one sweep; more questions take more sweeps, so memory stays small.
SWEEP = 4096


class Dominance:
    """Answers in constant time if every walk from the start to one step passes another."""

    def __init__(self, graph: Graph) -> None:
        self._first: dict[int, int] = {}
        self._last: dict[int, int] = {}
        if graph.start < 0:
            return
        children: dict[int, list[int]] = {}
        for node, above in nx.immediate_dominators(graph.certain, graph.root).items():
            if above is not None and above != node:
                children.setdefault(above, []).append(node)
        self._number(graph.root, children)

    def _number(self, root: int, children: dict[int, list[int]]) -> None:
        """Number the tree so that a step's own numbers enclose those of all steps below it."""
        count = 0
        stack = [(root, False)]
        while stack:
            node, left = stack.pop()
            if left:
                self._last[node] = count
                continue
            count += 1
            self._first[node] = count
            stack.append((node, True))
            stack.extend((child, False) for child in children.get(node, ()))

    def passes(self, before: int, node: int) -> bool:
        """True if every walk to ``node`` passes ``before``, itself included; False if either is unreachable."""
        if before not in self._first or node not in self._first:
            return False
        return self._first[before] <= self._first[node] <= self._last[before]


def leads_to(graph: Graph, pairs: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """The (before, after) of ``pairs`` with a walk of one hop or more from the first step to the second.

    Sweeps over the condensed graph, with a bit per origin, answer all of them in place of one search per pair.
    """
    wanted = sorted(set(pairs))
    if not wanted:
        return set()
    whole = nx.condensation(graph.digraph)
    component = whole.graph["mapping"]
    looping = {component[next(iter(members))] for members in graph.loops}
    order = list(nx.topological_sort(whole))
    origins = sorted({before for before, _ in wanted})
    found = set()
    for at in range(0, len(origins), SWEEP):
        bit = {origin: 1 << number for number, origin in enumerate(origins[at : at + SWEEP])}
        come = _sweep(whole, order, looping, bit, component)
        found |= {(before, after) for before, after in wanted if before in bit and come[component[after]] & bit[before]}
    return found


def _sweep(
    whole: nx.DiGraph[int],
    order: list[int],
    looping: set[int],
    bit: dict[int, int],
    component: dict[int, int],
) -> dict[int, int]:
    """Which origins, as bits, lead to each node of the condensed graph."""
    own: dict[int, int] = {}
    for origin, mask in bit.items():
        own[component[origin]] = own.get(component[origin], 0) | mask
    come: dict[int, int] = {}
    for node in order:
        mask = own.get(node, 0) if node in looping else 0
        for before in whole.pred[node]:
            mask |= come[before] | own.get(before, 0)
        come[node] = mask
    return come
