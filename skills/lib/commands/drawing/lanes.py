"""Lanes beside a graph: which edges may run in the same one without meeting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def packed(spans: Mapping[int, Sequence[float]]) -> dict[int, int]:
    """The lane of each target whose edges span these rows, the shortest nearest to the boxes; none meet in a lane."""
    lanes: dict[int, int] = {}
    filled: list[list[tuple[float, float]]] = []
    for target, rows in sorted(spans.items(), key=lambda pair: max(pair[1]) - min(pair[1])):
        first, last = min(rows), max(rows)
        free = (at for at, lane in enumerate(filled) if all(last < low or first > high for low, high in lane))
        at = next(free, len(filled))
        if at == len(filled):
            filled.append([])
        filled[at].append((first, last))
        lanes[target] = at
    return lanes
