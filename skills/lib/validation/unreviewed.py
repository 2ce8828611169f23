"""Ways to a gate that pass no review."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from skills.lib.validation.review import skips

if TYPE_CHECKING:
    from skills.lib.validation.graph import Graph


def unreviewed(graph: Graph, gate: int, reviewers: Collection[int]) -> set[int]:
    """The steps from which a walk leads to the gate without a review; the start among them ends the search.

    Searched backwards from the gate, so that in a sound graph no more than the way from review to gate is looked at.
    One of ``reviewers`` is among them where its SKIP leads there.
    """
    seen = {gate}
    stack = [gate]
    while stack and graph.start not in seen:
        node = stack.pop()
        for before in graph.digraph.pred[node]:
            if before not in seen and (before not in reviewers or _skips_to(graph, before, node)):
                seen.add(before)
                stack.append(before)
    return seen


def _skips_to(graph: Graph, at: int, to: int) -> bool:
    return any(target == to and skips(graph, at, outcome) for outcome, target in graph.routes[at])
