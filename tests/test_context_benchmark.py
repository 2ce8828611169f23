"""The benchmark of context: files that are read when they are wanted cost fewer tokens than all at once."""

from __future__ import annotations

import pytest

from benchmarks.context import BOTH, BUDGET, FIRST, at_once, on_demand


@pytest.mark.req("A-03")
def test_files_on_demand_take_fewer_tokens_than_all_at_once() -> None:
    whole = at_once()
    bounded, both, first = on_demand(BOTH, budget=BUDGET), on_demand(BOTH), on_demand(FIRST)
    assert [len(sent) for sent in (whole, bounded, both, first)] == [15, 15, 15, 15]
    assert sum(bounded) <= 0.52 * sum(whole)
    assert sum(first) <= 0.53 * sum(whole)
    assert sum(both) <= 0.70 * sum(whole)
