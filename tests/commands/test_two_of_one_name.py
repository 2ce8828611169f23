"""A name that two skills of a project have: nothing is guessed, and a copy is distinguished from its original."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.commands.conftest import Command

Install = Callable[..., Path]
COMMANDS = [["show"], ["graph"], ["export", "--dry-run"], ["install", "claude", "--dry-run", "--skill"]]
named = pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])


@pytest.fixture
def original(cli: Command, project: Path) -> Path:
    """A skill of the project, with the head that an export asks for."""
    assert cli("new", "plain").code == 0
    return project / "skills" / "plain"


def taken(cli: Command) -> str:
    """The folder that the name means, relative to the project."""
    shown = json.loads(cli("show", "plain", "--json").out)
    return Path(shown["path"]).relative_to(Path.cwd()).as_posix()


@named
def test_two_of_one_name_are_both_named(words: list[str], cli: Command, original: Path, project: Path) -> None:
    shutil.copytree(original, project / "a" / "plain")
    shown = cli(*words, "plain")
    assert (shown.code, shown.out) == (2, "")
    assert shown.err == (
        "lockstep: two skills are called plain\n"
        f"  valid: {project}/a/plain, {project}/skills/plain\n"
        "  try:   give the path of the one that is meant\n"
    )
    assert cli(*words, str(project / "a" / "plain")).code == 0


@pytest.mark.parametrize("command", ["show", "graph"])
def test_two_that_have_a_workflow_of_one_name_are_both_named(
    command: str, cli: Command, installed: Install, project: Path
) -> None:
    first = installed("gated").parents[1].rename(project / "skills" / "one")
    shutil.copytree(first, project / "skills" / "two")
    shown = cli(command, "gated")
    assert shown.code == 2
    assert f"two skills are called gated\n  valid: {project}/skills/one, {project}/skills/two\n" in shown.err


def test_a_copy_of_a_host_or_of_an_export_gives_way_to_its_original(
    cli: Command, original: Path, project: Path
) -> None:
    shutil.copytree(original, project / ".agents" / "skills" / "plain")
    assert cli("export", "plain", "--to", "build").code == 0
    assert taken(cli) == "skills/plain"
    assert cli("export", "plain", "--dry-run", "--to", "elsewhere").code == 0
    shutil.rmtree(original)
    assert taken(cli) == ".agents/skills/plain"
    shutil.rmtree(project / ".agents")
    assert taken(cli) == "build/plain"


def test_a_project_s_own_skill_goes_before_the_shipped_one_of_its_name(cli: Command, project: Path) -> None:
    own = project / "skills" / "planner"
    own.mkdir(parents=True)
    (own / "SKILL.md").write_text("---\nname: planner\ndescription: Mine.\n---\n", encoding="utf-8")
    shown = cli("show", "planner")
    assert shown.code == 0
    assert "Mine." in shown.out
