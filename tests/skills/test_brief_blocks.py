"""Each shipped skill is walked by an agent that loses everything at each brief block, and by one that remembers."""

from __future__ import annotations

import pytest

from benchmarks.cost import agent, texts
from tests.fixtures.forgetting import Forgetting

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("skill", texts.skills())
def test_a_brief_block_says_what_a_full_one_does(skill: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent, "Agent", Forgetting)
    assert agent.measured(skill).meter.commands
