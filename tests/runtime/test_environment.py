"""What surrounds a call: the clock, standard streams, the working directory, the project's path."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock
from tests.runtime.calls import OPEN_ENDED, leave, verify

Skill = Callable[..., Agent]


def test_the_console_command_without_a_folder_or_an_output(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    root = Path(__file__).resolve().parents[2]
    runs = shlex.join([sys.executable, str(root / "skills" / "__main__.py"), "runs"])
    for command, code, words in (
        (f"rmdir {shlex.quote(str(gone))}; {runs}", 2, "the working directory cannot be used"),
        (f"cd /; {runs} >&-", 4, "standard output is closed"),
        (f"cd /; {runs} --nonsense 2>&-", 2, ""),
        (f"cd /; {runs} --help >/dev/full", 4, "the output cannot be written: No space left on device"),
        (f"cd /; {runs} 2>/dev/full", 0, ""),
    ):
        gone.mkdir(exist_ok=True)
        found = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=gone)
        assert (found.returncode, found.stdout) == (code, "")
        assert words in found.stderr


@pytest.mark.parametrize("clock", [-5.0, 1e18])
def test_a_clock_that_is_wrong_by_ages(skill: Skill, monkeypatch: pytest.MonkeyPatch, clock: float) -> None:
    from skills.lib.commands.queries import runs

    agent = skill('StepDef("first", "First", "Do.", {Outcome.OK: "last"}), ' + OPEN_ENDED)
    block = agent.open()
    monkeypatch.setattr("time.time", lambda: clock)
    assert agent.follow(agent.follow(block)).kind == "done"
    monkeypatch.undo()
    verify(agent)
    assert [event.kind for event in agent.events(block.run)] == ["opened", "moved", "finished"]
    assert runs.moment(agent.events(block.run)[-1].at)


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_nobody_to_tell_is_no_other_exit_code(skill: Skill, redirection: str) -> None:
    agent = skill(
        'StepDef("first", "First", "Do.", {Outcome.OK: "last"}, requires=[Command(["true"], 10)]), ' + OPEN_ENDED
    )
    block = agent.open()
    wrong = [sys.executable, agent.script, "--step", "nowhere"]
    usage = subprocess.run(["bash", "-c", f"{shlex.join(wrong)} {redirection}"], capture_output=True)
    moved = subprocess.run(["bash", "-c", f"{block.next} {redirection}"], capture_output=True, text=True)
    assert (usage.returncode, usage.stdout) == (2, b"")
    assert (moved.returncode, PrintedBlock(0, moved.stdout).step) == (0, "last")


def test_a_closed_standard_input_is_reported(skill: Skill) -> None:
    agent = skill(OPEN_ENDED)
    command = f"{shlex.join([sys.executable, agent.script, '--step', '1', '--record-file', '-'])} <&-"
    found = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (2, "")
    assert "standard input is closed" in found.stderr


def test_a_working_directory_that_was_removed_is_reported(skill: Skill, tmp_path: Path) -> None:
    agent = skill(OPEN_ENDED)
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f"rmdir {shlex.quote(str(gone))}; {shlex.join([sys.executable, agent.script, '--step', '1'])}"
    found = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=gone)
    assert (found.returncode, found.stdout) == (2, "")
    assert "give the project's root with --project" in found.stderr


@pytest.mark.parametrize("name", [b"p\xff\xfe", b"p\x01q"])
def test_a_project_whose_path_cannot_be_printed_gets_no_run(skill: Skill, tmp_path: Path, name: bytes) -> None:
    agent = skill(OPEN_ENDED)
    folder = os.path.join(os.fsencode(tmp_path), name)
    os.makedirs(folder + b"/.lockstep")
    found = subprocess.run([sys.executable, agent.script, "--step", "1"], capture_output=True, cwd=folder)
    assert (found.returncode, found.stdout) == (2, b"")
    assert b"the path of the project: U+" in found.stderr
    assert os.listdir(folder + b"/.lockstep") == []


def test_a_long_block_that_is_printed_many_times_at_once(skill: Skill) -> None:
    agent = skill(
        'StepDef("first", "First", "Do.", {Outcome.OK: "last"}, requires=[Field("text")]), '
        'StepDef("last", "Last", "Stop.", {Outcome.OK: None}, needs=["first.text"])'
    )
    block = agent.show(leave(agent, agent.open(), "last", text="long " * 10_000).run)
    command = [sys.executable, agent.script, "--step", "current", "--run", block.run, "--project", str(agent.project)]
    for _ in range(3):
        calls = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(12)]
        printed = [(call.communicate()[0].decode(), call.returncode) for call in calls]
        assert printed == [(block.text, 0)] * 12
