"""A project with skills in it, the command as a person calls it, and runs to look at."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from skills.lib.blocks.command_line import CommandLine
from skills.lib.commands.console.app import lockstep
from skills.lib.model.run import Request, Run
from skills.lib.runtime import Response, Runner, loading
from tests.fixtures import skill

SKILL_MD = """---
name: {name}
description: A skill of a test, called {name}.
---

# {name}

Run `scripts/{name}.py --step 1`, and follow what it prints.
"""


@dataclass(frozen=True)
class Shown:
    """What a call of the command printed, and its exit code."""

    code: int
    out: str
    err: str


Command = Callable[..., Shown]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, which is the working directory."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def cli(project: Path) -> Command:
    """Call ``lockstep`` in the project, standard input and output piped."""

    def call(*words: str, given: str = "", env: dict[str, str] | None = None) -> Shown:
        result = CliRunner().invoke(lockstep, list(words), input=given, env=env, prog_name="lockstep")
        return Shown(result.exit_code, result.stdout, result.stderr)

    return call


@pytest.fixture
def installed(project: Path) -> Callable[..., Path]:
    """Put a skill (one of tests/fixtures/workflows, or of the given source) into the project; its entry script."""

    def install(name: str, source: str | None = None) -> Path:
        script = skill.install(project, name, source)
        (script.parent.parent / "SKILL.md").write_text(SKILL_MD.format(name=name), encoding="utf-8")
        return script

    return install


@pytest.fixture(autouse=True)
def counted_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that this process opens have the ids testrun1, testrun2, … in order."""
    numbers = count(1)
    monkeypatch.setattr("skills.lib.runtime.opening.new_id", lambda: f"testrun{next(numbers)}")


class Walker:
    """Walks a run of a script by the library, so that there is something to look at."""

    def __init__(self, script: Path, project: Path) -> None:
        self.workflow = loading.workflow_of_script(str(script))
        self.runner = Runner(CommandLine(sys.executable, str(script), str(project)))
        self.project = str(project)

    def start(self, **params: Any) -> Run:
        """Open a run."""
        return self._run(self.runner.start(self.workflow, params, new=True))

    def go(self, run: Run, step: str = "next", **fields: Any) -> Run:
        """Go on from the run's step; a refusal leaves it there."""
        request = Request(step, run=run.id, turn=run.turn, project=self.project, **fields)
        return self._run(self.runner.advance(self.workflow, run.id, request))

    def child(self, run: Run, **records: Any) -> Run:
        """Begin a task's run, and finish it if there is something to record."""
        begun = self._run(self.runner.state(self.workflow, run.id))
        return self.go(begun, records=records) if records else begun

    def _run(self, response: Response) -> Run:
        assert response.run is not None, response.element
        return response.run

    def children(self, run: Run) -> list[Run]:
        """The runs of the present step's sub-agents."""
        return self.runner.ledger.runs(run.children)


@pytest.fixture
def walker(project: Path) -> Callable[[Path], Walker]:
    """A walker of a script of the project."""
    return lambda script: Walker(script, project)


@pytest.fixture
def stable(project: Path) -> Callable[[str], str]:
    """The text without what differs from run to run and machine to machine; columns stay as wide as they were."""

    def normalise(text: str) -> str:
        for path, word in (
            (str(project), "PROJECT"),
            (os.environ["LOCKSTEP_HOME"], "LEDGER"),
            (str(skill.ROOT), "ROOT"),
            (sys.executable, "PYTHON"),
        ):
            text = text.replace(path, word)
        text = re.sub(r"\d{4}-\d\d-\d\d([ T])\d\d:\d\d:\d\d", r"2026-01-01\g<1>00:00:00", text)
        text = re.sub(r"definition [0-9a-f]{32}", "definition DIGEST", text)
        text = re.sub(r", (< 1|\d+) s(?= ·)", "", text)
        return re.sub(r"\b\d+ s ago", "0 s ago", text)

    return normalise
