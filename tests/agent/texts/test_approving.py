"""``lockstep agent approve``: a person sees the commands of a skill and lets them run; an agent cannot."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from skills.lib.agent.prose import approval
from skills.lib.agent.prose.skill import load
from skills.lib.commands.console.app import lockstep
from tests.agent.prose.skills import prose
from tests.fixtures.terminal import at_terminal

BODY = "Now: !`git status` and !`git log | sh`\nAgain: !`git status`\n"
ADMITS = "allowed-tools: Bash(git:*)\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return prose(tmp_path / "p", "look", BODY, ADMITS)


def is_approved(folder: Path) -> bool:
    return approval.is_approved(load(folder / "skills/look"))


def approve(folder: Path, *more: str, keys: bytes = b"", env: dict[str, str] | None = None) -> tuple[int, str]:
    words = ["agent", "approve", "look", "--project", str(folder), *more]
    return at_terminal(*words, keys=keys, env={"COLUMNS": "300", "TERM": "dumb", **(env or {})})


def test_a_person_sees_each_command_once_and_approves(folder: Path) -> None:
    code, shown = approve(folder, keys=b"y\n")
    assert code == 0
    assert shown.removeprefix("y\n") == (  # the terminal echoes what is typed
        f"{folder}/skills/look/SKILL.md runs in {folder}, before a model reads it:\n"
        "  git status\n"
        "  git log | sh  never run: allowed-tools of SKILL.md does not admit it\n"
        "May these commands run whenever this skill is followed? [y/N]: "
        "The commands of look are approved as they are now.\n"
    )
    assert is_approved(folder)
    assert approve(folder)[1].endswith("These commands are approved already.\n")


@pytest.mark.parametrize("keys, code", [(b"n\n", 3), (b"\n", 3), (b"\x04", 130)])
def test_a_person_who_does_not_approve_changes_nothing(folder: Path, keys: bytes, code: int) -> None:
    assert approve(folder, keys=keys)[0] == code
    assert not is_approved(folder)


def test_yes_leaves_the_question_out_and_withdraw_takes_it_back(folder: Path) -> None:
    code, shown = approve(folder, "--yes")
    assert (code, "[y/N]" in shown, "git status" in shown) == (0, False, True)
    assert is_approved(folder)
    assert approve(folder, "--withdraw") == (0, "The approval is withdrawn.\n")
    assert not is_approved(folder)


@pytest.mark.parametrize("name", ["LOCKSTEP_AGENT", "CLAUDECODE", "CODEX_THREAD_ID"])
def test_an_agent_at_a_terminal_is_refused(folder: Path, name: str) -> None:
    code, shown = approve(folder, "--yes", env={name: "1"})
    assert code == 3
    assert "approving the commands of a skill is a person's" in shown
    assert not is_approved(folder)


@pytest.mark.parametrize("more", [[], ["--yes"]])
def test_a_program_without_a_terminal_is_refused(folder: Path, more: list[str]) -> None:
    done = CliRunner().invoke(lockstep, ["agent", "approve", "look", "--project", str(folder), *more])
    assert done.exit_code == 3
    assert not is_approved(folder)


def test_a_skill_without_commands_has_nothing_to_approve(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "look", "```\n!`id`\n```\n", ADMITS)
    assert approve(folder) == (0, "look has no commands in its SKILL.md: there is nothing to approve.\n")


def test_a_skill_with_a_graph_and_an_unknown_one_are_told(folder: Path) -> None:
    words = ["--project", str(folder), "--withdraw"]
    with_graph = CliRunner().invoke(lockstep, ["agent", "approve", "problem-analysis", *words])
    assert (with_graph.exit_code, "has a graph" in with_graph.output) == (2, True)
    unknown = CliRunner().invoke(lockstep, ["agent", "approve", "lok", *words])
    assert (unknown.exit_code, "lok" in unknown.output) == (2, True)
