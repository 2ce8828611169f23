"""What agents read, in characters, with a block that is copied into prompts and with the core skill in its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skills.lib.layers import prompts
from tests.commands.conftest import Command

SKILLS = Path(__file__).resolve().parents[2] / "skills"
pytestmark = pytest.mark.req("L-04")
# Eight lines, as prompts of a task loop carry them; the source of the layers counts more than 15 copies.
BLOCK = """<tooling_guidance>
- When the MCP pruner's grep and read are there, use them before any shell command to look into files.
- Work in a loop: locate with grep, read the smallest part that settles the question, confirm, then widen or stop.
- Set the focus question of each call, so that the answer stays small, and do not read whole files to find one line.
- Use the shell to search only if no tool can do it, and then bounded: one file, few lines, no search of the whole tree.
- Do not claim that something exists unless a tool's result shows it; name the path and the line that you have read.
- Do not claim that something is absent without the searches that found nothing; name them.
</tooling_guidance>
"""
COPIES = 16


def test_a_core_skill_is_less_to_keep_than_its_copies_and_more_to_read_in_a_session(cli: Command) -> None:
    found = json.loads(cli("phase", "task_spec_check", "--json").out)
    core, adapter = found["members"][:2]
    assert (core["skill"], adapter["skill"]) == ("safe-shell-search", "task-spec-check")
    line = len(prompts.slimmed(BLOCK, core["skill"]))
    skill = len((SKILLS / core["skill"] / "SKILL.md").read_text(encoding="utf-8"))
    assert COPIES * line + skill < COPIES * len(BLOCK)
    # The rules are in each block, so that they are there after a compaction: that is more than one copy.
    rules = sum(map(len, core["contributes"]["rules"]))
    blocks = adapter["contributes"]["steps"] - 1  # a run takes one of its last two steps
    assert rules < len(BLOCK) < line + blocks * rules
