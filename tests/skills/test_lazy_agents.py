"""How far an agent gets with each skill that does the least which the blocks let pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.adherence.lazy import walked
from benchmarks.adherence.lazy_ways import ATTEMPTS, UNREFUSED
from skills.lib import paths
from skills.lib.ledger import Ledger
from tests.skills.follower import SKILLS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ATTEMPTS)
def test_a_lazy_agent_gets_as_far_as_this(name: str, tmp_path: Path) -> None:
    lazy = ATTEMPTS[name]
    end = walked(lazy, tmp_path)
    assert end[:2] == lazy.expected[:2], end.words
    assert lazy.expected.words in end.words
    if end.how == "done":
        assert not end.unentered or "gate" in end.undone
        assert "unchecked" in end.undone


def test_done_is_reached_only_if_nothing_can_be_checked() -> None:
    assert {name for name, lazy in ATTEMPTS.items() if lazy.expected.how == "done"} == set(UNREFUSED)


def test_every_skill_meets_a_lazy_agent() -> None:
    skills = {folder.parent.name for folder in SKILLS.glob("*/SKILL.md")}
    assert {lazy.script.partition("/")[0] for lazy in ATTEMPTS.values()} == skills
    assert {lazy.script for lazy in ATTEMPTS.values()} >= {
        f"planner/scripts/{name}.py" for name in ("planner", "executor")
    }


def test_a_lazy_executor_leaves_the_plan_in_the_tree_or_the_departure_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LOCKSTEP_HOME", raising=False)
    names = [name for name in UNREFUSED if name.startswith("executor: ")]
    told = {}
    for name in names:
        project = tmp_path / name
        project.mkdir()
        walked(ATTEMPTS[name], project)
        ledger = Ledger(paths.home(str(project)))
        [run] = ledger.every_run("parent IS NULL")
        ledger.close()
        left = [entry["what"] for entry in run.not_done if entry["what"].startswith("what the plan says was waived: ")]
        told[name] = ((project / "code.py").read_text(encoding="utf-8"), left)
    assert told == {
        "executor: a departure from all of it": (
            "KEPT = 2\n",
            ["what the plan says was waived: M-001 | all | nothing | nobody asked"],
        ),
        "executor: applied, and read by nobody": ("KEPT = 3\n", []),
    }
