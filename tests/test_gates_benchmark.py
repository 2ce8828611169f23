"""Random review graphs: an adversary ends none as done past a gate, and honest work ends each from every state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.gates.figures import look
from skills.lib.workflow import gates, quality, rework, sharing, verdicts
from skills.lib.workflow.types import Outcome, Severity

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 11


@pytest.mark.req("S-01")
def test_no_random_graph_is_ended_as_done_past_a_gate_and_each_can_be_ended_honestly_from_every_state() -> None:
    found = look(60, SEED)
    assert found.wrong == []
    assert found.stuck == []
    assert (found.graphs, found.walks) == (60, 120)
    assert found.states == sum(found.ends.values())
    assert found.valid > 10
    assert found.states > 400
    assert {feature for feature, count in found.features.items() if count} == FEATURES
