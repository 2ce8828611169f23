"""Times functions beside each other: round by round, so that a change of the machine's speed affects all of them."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def medians(functions: Mapping[str, Callable[[], object]], repeats: int, inner: int = 1) -> dict[str, float]:
    """The median milliseconds of one call of each function, over ``repeats`` rounds of ``inner`` calls."""
    took: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            begin = time.perf_counter()
            for _ in range(inner):
                function()
            took[name].append((time.perf_counter() - begin) * 1000 / inner)
    return {name: statistics.median(many) for name, many in took.items()}
