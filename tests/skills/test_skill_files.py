"""Every command that a SKILL.md prints runs as it stands, with its folder put in, from a project of the user's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from skills.lib.skillfile import commands_in, load_skill
from skills.lib.testing.blocks import parse
from tests.skills.follower import SKILLS

COMMANDS = [
    pytest.param(file.parent, command.command, id=f"{file.parent.name}-{at}")
    for file in sorted(SKILLS.glob("*/SKILL.md"))
    for at, command in enumerate(commands_in(load_skill(file.parent)))
]


def test_each_skill_says_how_it_begins() -> None:
    assert {str(case.values[0]) for case in COMMANDS} == {str(file.parent) for file in SKILLS.glob("*/SKILL.md")}


@pytest.mark.req("W-15", "W-18")
@pytest.mark.parametrize("folder, command", COMMANDS)
def test_the_command_runs_as_it_is_printed(folder: Path, command: str, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (programs / "python3").chmod(0o755)
    project = tmp_path / "a project"
    project.mkdir()
    done = subprocess.run(
        ["/bin/sh", "-c", command.replace("SKILL_DIR", str(folder))],
        cwd=project,
        env={**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    block = parse(done.stdout)
    assert (block.tag, block.get("number"), block.get("turn")) == ("step", "1", "1")
