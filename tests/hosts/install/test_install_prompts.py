"""What is asked at a terminal, and that nothing is asked without one."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixtures.skill import ROOT
from tests.hosts.conftest import ROLED, SKILL, Command, Shown, tree

pytestmark = pytest.mark.req("H-01")


def at_terminal(project: Path, answers: str, *words: str) -> Shown:
    """Call ``lockstep`` with these answers typed ahead at a terminal; what it asked is the error output."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "skills", *words],
        cwd=project,
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    )
    os.close(theirs)
    os.write(ours, answers.encode())
    out, _ = process.communicate(timeout=60)
    asked = os.read(ours, 100_000).decode()
    os.close(ours)
    return Shown(process.returncode, out, asked)


def test_it_asks_for_hosts_skills_and_scope(project: Path, home: Path) -> None:
    (home / ".qwen").mkdir()
    shown = at_terminal(project, f"\n{SKILL}, {ROLED}\nproject\n", "install")
    assert (shown.code, shown.out.splitlines()[0]) == (0, "qwen, project scope: 13 written.")
    for question in (
        "For which hosts? [qwen]:",
        "Which skills? [all]:",
        "For you in every project, or in this project? (project, user) [user]:",
    ):
        assert question in shown.err
    assert "run the step scripts" not in shown.err  # in a project an agent may change them
    assert {path.name for path in (project / ".agents" / "skills").iterdir()} == {SKILL, ROLED}
    assert "permissions" not in (project / ".qwen" / "settings.json").read_text(encoding="utf-8")


def test_an_answer_that_is_none_is_asked_for_again(project: Path, home: Path) -> None:
    shown = at_terminal(project, f"emacs\nagents\n{SKILL}\n\n", "install")
    assert (shown.code, "choose from codex, claude, opencode, qwen, gemini, agents, or all" in shown.err) == (0, True)
    assert "there is no 'emacs': " in shown.err
    assert shown.out.startswith("agents, user scope: ")


def test_what_is_given_is_not_asked_for(project: Path, home: Path) -> None:
    shown = at_terminal(project, "", "install", "agents", "--scope", "project", "--skill", SKILL)
    assert (shown.code, "]:" in shown.err) == (0, False)


def test_yes_takes_the_hosts_that_are_found_and_the_users_scope(cli: Command, project: Path, home: Path) -> None:
    (home / ".codex").mkdir()
    (home / ".gemini").mkdir()
    shown = cli("install", "--yes", "--skill", SKILL, env={"PATH": "/usr/bin:/bin"})
    assert [line for line in shown.out.splitlines() if "scope" in line] == [
        "codex, user scope: 5 written.",
        "gemini, user scope: 1 written, 4 as they should be.",
    ]
    assert tree(project) == {".git": None}


def test_without_a_terminal_nothing_is_asked(cli: Command, project: Path, home: Path) -> None:
    (home / ".codex").mkdir()
    shown = cli("install", input="agents\n")
    assert (shown.code, "HOST is missing" in shown.err) == (2, True)
    assert cli("install", "agents", "--skill", SKILL, input="").out.startswith("agents, user scope: ")


def test_the_scope_is_the_one_in_which_it_is_installed(cli: Command, project: Path) -> None:
    cli("install", "agents", "--scope", "project", "--skill", SKILL)
    assert cli("install", "agents", "--skill", ROLED).out.startswith("agents, project scope: ")
    assert cli("uninstall", "agents").out.startswith("agents, project scope: ")


@pytest.mark.parametrize("answer, code, left", [("n\n", 3, "mine"), ("y\n", 0, "---\n")])
def test_it_asks_about_a_file_that_the_user_changed(project: Path, answer: str, code: int, left: str) -> None:
    mine = project / ".claude" / "agents" / "quality-reviewer.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    shown = at_terminal(project, answer, "install", "claude", "--scope", "project", "--skill", ROLED)
    assert (shown.code, "Replace or remove it? [y/N]" in shown.err) == (code, True)
    assert mine.read_text()[:4] == left


def test_the_choices_are_shown_and_a_slip_is_suggested(path: Path, project: Path, home: Path) -> None:
    shown = at_terminal(project, f"cladue\nclaude\n{SKILL}\n\n\n", "install")
    assert shown.code == 0
    assert "No host was found: none of the programs codex, claude, opencode, qwen, gemini is on the PATH" in shown.err
    assert "  codex, claude, opencode, qwen, gemini, agents; or all\r\n" in shown.err
    assert "there is no 'cladue' (did you mean claude?): choose from codex, claude, " in shown.err
    assert "  code-quality, codebase-analysis, " in shown.err


def test_without_any_host_it_says_which_were_looked_for(path: Path, cli: Command) -> None:
    shown = cli("install", "--yes")
    assert shown.code == 2
    assert "no host was found: none of the programs codex, claude, opencode, qwen, gemini is on the PATH" in shown.err
    assert "  try:   lockstep install codex\n" in shown.err
