"""Every command that a SKILL.md prints runs as it stands, with its folder put in, from a project of the user's."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from skills.lib.runtime import loading
from skills.lib.skillfile import commands_in, load_skill
from skills.lib.testing.blocks import parse
from tests.skills.follower import SKILLS, Follower

COMMANDS = [
    pytest.param(file.parent, command.command, id=f"{file.parent.name}-{at}")
    for file in sorted(SKILLS.glob("*/SKILL.md"))
    for at, command in enumerate(commands_in(load_skill(file.parent)))
]


def test_each_skill_says_how_it_begins() -> None:
    assert {str(case.values[0]) for case in COMMANDS} == {str(file.parent) for file in SKILLS.glob("*/SKILL.md")}


SCOPE = ["--scope", "single-prompt"]


@pytest.mark.parametrize("folder, command", COMMANDS)
def test_the_end_of_each_run_says_what_to_give_the_user(folder: Path, command: str) -> None:
    script = script_of(command).replace("prompt_engineer.py", "single_prompt.py")
    assert loading.workflow_of_script(str(folder / script)).closing


def script_of(command: str) -> str:
    """The script of a command, below its skill's folder."""
    [found] = re.findall(r"SKILL_DIR/([^\s\"]+\.py)", command)
    return str(found)


@pytest.mark.req("W-09")
@pytest.mark.parametrize("folder, command", COMMANDS)
def test_the_way_back_without_lockstep_opens_no_second_run(folder: Path, command: str, tmp_path: Path) -> None:
    assert "`--step current`" in (folder / "SKILL.md").read_text(encoding="utf-8")
    begun = command.replace("SKILL_DIR", str(folder)).replace("python3", shlex.quote(sys.executable), 1)
    opened = Follower(str(folder / script_of(command)), tmp_path).shell(begun)
    words = [*shlex.split(begun)[:2], "--step", "current", *(SCOPE if "--scope" in begun else [])]
    back = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (back.returncode, parse(back.stdout).get("code")) == (3, "no-run")
    assert set(re.findall(r"--step current --run (\w+)", back.stdout)) == {opened.run}


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
    told = [line for line in done.stderr.splitlines() if not line.startswith("lockstep: running ")]
    assert (done.returncode, told) == (0, [])
    block = parse(done.stdout)
    assert (block.tag, block.get("number"), block.get("turn")) == ("step", "1", "1")
