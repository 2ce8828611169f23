"""How far an agent gets with each skill that does the least which the blocks let pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.adherence.lazy import walked
from benchmarks.adherence.lazy_ways import ATTEMPTS, UNREFUSED
from tests.skills.follower import SKILLS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("name", ATTEMPTS)
def test_a_lazy_agent_gets_as_far_as_this(name: str, tmp_path: Path) -> None:
    lazy = ATTEMPTS[name]
    end = walked(lazy, tmp_path)
    assert end[:2] == lazy.expected[:2], end.words
    assert lazy.expected.words in end.words
    if end.how == "done":
        assert not end.unentered or "gate" in end.undone


def test_done_is_reached_only_where_nothing_can_be_looked_at() -> None:
    assert {name for name, lazy in ATTEMPTS.items() if lazy.expected.how == "done"} == set(UNREFUSED)


def test_every_skill_but_the_planner_meets_a_lazy_agent() -> None:
    skills = {folder.parent.name for folder in SKILLS.glob("*/SKILL.md")}
    assert {lazy.script.partition("/")[0] for lazy in ATTEMPTS.values()} == skills - {"planner"}
