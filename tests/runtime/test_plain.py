"""answer, resume and abandon serve a Python that has neither click nor rich, as the blocks name them."""

from __future__ import annotations

import os
import pty
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from skills.lib.testing import Agent
from tests.fixtures.skill import ROOT, install, source_of

ASKING = (
    'StepDef("ask", "Ask", "Ask.", {Outcome.OK: "last", Outcome.FAIL: None},'
    ' person("Ship it?", {"yes": "ok", "no": "fail"}, at_terminal=True)),'
    ' StepDef("last", "Last", "Stop.", {Outcome.OK: None})'
)


def bare(*words: str, terminal: bool = False) -> tuple[int, str, str]:
    """The exit code, output and errors of the command, by a Python without site packages."""
    command = [sys.executable, "-I", "-S", str(ROOT / "skills" / "__main__.py"), *words]
    ends = pty.openpty() if terminal else ()
    try:
        stdin = ends[1] if ends else subprocess.DEVNULL
        done = subprocess.run(command, stdin=stdin, capture_output=True, text=True, timeout=60, env=dict(os.environ))
    finally:
        for end in ends:
            os.close(end)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def waiting(tmp_path: Path, project: Path) -> tuple[Agent, str]:
    agent = Agent(install(tmp_path, "asking", source_of("asking", ASKING)), project)
    return agent, agent.open().run


@pytest.mark.req("W-18")
def test_a_person_answers_without_the_libraries(waiting: tuple[Agent, str], project: Path) -> None:
    agent, run = waiting
    where = ("--project", str(project))
    code, _, errors = bare("answer", run, *where, "--", "yes")
    assert (code, "an answer is a person's" in errors) == (3, True)
    code, out, _ = bare("answer", run, *where, "--", "maybe", terminal=True)
    assert (code, "'maybe' is not one of the answers" in out) == (3, True)
    code, out, errors = bare("answer", run, *where, "--reason", "seen and known", "--", "yes", terminal=True)
    assert (code, out) == (0, f"Recorded as a person's answer of run {run} at ask: yes. The run goes on at last.\n"), (
        errors
    )
    assert agent.state(run).state["ask"]["answered_by"] == "person"
    assert bare("answer", run, *where, "--", "yes", terminal=True)[0] == 3


def test_a_run_is_resumed_and_abandoned_without_the_libraries(waiting: tuple[Agent, str], project: Path) -> None:
    _, run = waiting
    where = ("--project", str(project))
    code, out, _ = bare("resume", run, *where)
    assert (code, "<waiting" in out) == (0, True)
    assert bare("abandon", run, *where)[0] == 2
    assert bare("abandon", run, *where, "--reason", "the ticket was closed") == (0, f"Run {run} is abandoned.\n", "")
    code, _, errors = bare("resume", "zzzzzzzz", *where)
    assert (code, "has no run 'zzzzzzzz'" in errors) == (2, True)


@pytest.mark.parametrize(
    "words", [["resume"], ["abandon", "--reason", "the ticket was closed"]], ids=["resume", "abandon"]
)
def test_a_folder_that_is_not_there_is_a_refusal(tmp_path: Path, words: list[str]) -> None:
    code, out, errors = bare(*words, "zzzzzzzz", "--project", str(tmp_path / "none"))
    assert (code, out) == (2, "")
    assert "is not a folder" in errors
    command = [sys.executable, "-I", "-S", str(ROOT / "skills" / "__main__.py"), *words, "zzzzzzzz"]
    removed = tmp_path / "removed"
    removed.mkdir()
    script = f"cd {shlex.quote(str(removed))} && rmdir ../removed && exec {shlex.join(command)}"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert "the working directory cannot be used" in done.stderr


def test_the_command_that_a_block_prints_is_one_of_these(waiting: tuple[Agent, str]) -> None:
    block = waiting[0].blocks[-1]
    words = shlex.split(block.words("ANSWER"))
    assert words[words.index("answer") + 1] == block.run
