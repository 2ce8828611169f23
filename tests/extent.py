"""How much a sweep, a random search or a matrix does: a part of it in CI, all of it with LOCKSTEP_EXHAUSTIVE=1."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from itertools import combinations

EXHAUSTIVE = bool(os.environ.get("LOCKSTEP_EXHAUSTIVE"))
Row = tuple[Hashable, ...]


def extent(usual: int, exhaustive: int) -> int:
    """The number that holds in this session."""
    return exhaustive if EXHAUSTIVE else usual


def pairwise(rows: Sequence[Row]) -> list[Row]:
    """Few of the rows, in which every two values of two columns meet that meet in any of them."""
    left = {pair for row in rows for pair in _pairs(row)}
    chosen = []
    while left:
        best = max(rows, key=lambda row: len(left & _pairs(row)))
        chosen.append(best)
        left -= _pairs(best)
    return chosen


def _pairs(row: Row) -> set[tuple[int, Hashable, int, Hashable]]:
    return {(at, row[at], to, row[to]) for at, to in combinations(range(len(row)), 2)}
