"""Where an agent's commands are run: Lockstep in this process, Lockstep as a real process, and the plain printer."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any, Protocol

from benchmarks.adherence import baseline, interleave
from benchmarks.adherence.block import Block, Printed, flag_value
from skills.lib import launcher, paths
from skills.lib.blocks.command_line import here
from skills.lib.errors import LockstepError
from skills.lib.model.run import Request
from skills.lib.runtime import Runner, cli, loading, script

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from benchmarks.adherence.skills import Skill


class Host(Protocol):
    """Runs the commands of one run's agents, in one project."""

    project: str
    remembers: bool

    def begin(self, skill: Skill, params: Mapping[str, str]) -> list[str]:
        """The command that opens a run."""

    def call(self, argv: list[str]) -> Block:
        """Run a command and read what it prints."""

    def call_at_once(self, first: list[str], second: list[str]) -> tuple[Block, Block, bool]:
        """Run two commands at the same moment: what each prints, and whether they met."""

    def states(self) -> dict[str, str]:
        """The state of each run, by id: equal before and after a command that changed nothing."""

    def changes(self, run: str) -> list[dict[str, Any]]:
        """The detail of each recorded event by which an agent or a person changed the run, in order."""

    def answer(self, block: Block, answer: str, reason: str) -> Block:
        """Have a person answer the question of a waiting block at a terminal; the block after it."""


class Lockstep:
    """Lockstep on a ledger of its own; ``as_process`` starts a process for each command, as an agent's shell does."""

    remembers = True

    def __init__(self, project: str, as_process: bool = False) -> None:
        self.project = project
        self.as_process = as_process
        os.makedirs(os.path.join(project, ".lockstep"), exist_ok=True)
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("LOCKSTEP_HOME", "PYTHONDONTWRITEBYTECODE")
        }

    def begin(self, skill: Skill, params: Mapping[str, str]) -> list[str]:
        """The command that SKILL.md gives, with the run's parameters."""
        words = [word for name, value in params.items() for word in (f"--{name}", value)]
        return [sys.executable, skill.script, "--step", "1", "--project", self.project, *words]

    def call(self, argv: list[str]) -> Block:
        """Run the command; a step in this process has the same entry, without the start of an interpreter."""
        return Block(self._process(argv) if self.as_process or "--step" not in argv else self._here(argv))

    def call_at_once(self, first: list[str], second: list[str]) -> tuple[Block, Block, bool]:
        """Each command on a connection of its own, in this process: both decide, then the first commits."""
        with contextlib.redirect_stderr(io.StringIO()):  # which programs are run, in no certain order
            return interleave.meet(functools.partial(self._serve, first), functools.partial(self._serve, second))

    def states(self) -> dict[str, str]:
        """The rows of all runs."""
        if not os.path.exists(self._database):
            return {}
        with sqlite3.connect(self._database) as connection:
            rows = dict(connection.execute("SELECT id, data FROM runs").fetchall())
        connection.close()
        return rows

    def changes(self, run: str) -> list[dict[str, Any]]:
        """What the ledger holds of that run, without steps that were walked through."""
        with sqlite3.connect(self._database) as connection:
            where = "run=? AND change<>'{}' AND kind<>'definition-changed' AND actor<>'script'"
            rows = connection.execute(f"SELECT detail FROM events WHERE {where} ORDER BY seq", (run,)).fetchall()
        connection.close()
        return [json.loads(detail) for (detail,) in rows]

    def answer(self, block: Block, answer: str, reason: str) -> Block:
        """What ``lockstep answer`` does, as a person."""
        script_path = block.next[1]
        runner = Runner(here(script_path, self.project), actor="person")
        workflow = loading.workflow_of_script(script_path)
        request = Request("next", run=block.run, turn=int(str(block.root.get("turn"))), answer=answer, reason=reason)
        try:
            response = runner.advance(workflow, block.run, request)
            return Block(Printed(response.exit_code, script.render_response(response, runner)))
        finally:
            runner.ledger.close()

    @property
    def _database(self) -> str:
        return os.path.join(paths.home(self.project), "runs.db")

    def _process(self, argv: list[str]) -> Printed:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,  # an agent's shell is no terminal
            capture_output=True,
            text=True,
            cwd=self.project,
            env=self.environment,
            check=False,
            timeout=120,
        )
        return Printed(done.returncode, done.stdout, done.stderr)

    def _serve(self, argv: list[str]) -> Block:
        """What the step command does, without standard output, which threads share."""
        workflow = loading.workflow_of_script(argv[1])
        request = cli.parse(workflow, argv[2:])
        runner = Runner(here(argv[1], self.project))
        try:
            response = runner.advance(workflow, str(request.run), request)
            return Block(Printed(response.exit_code, script.render_response(response, runner)))
        except LockstepError as error:
            return Block(Printed(error.exit_code, "", error.message()))
        finally:
            runner.close()

    def _here(self, argv: list[str]) -> Printed:
        out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
        before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = out, err
        try:
            code = script.main(loading.workflow_of_script(argv[1]), argv[2:], argv[1])
        finally:
            sys.stdout, sys.stderr = before
        out.flush()
        return Printed(code, out.buffer.getvalue().decode(), err.getvalue())


class Stateless:
    """The plain step printer: a step number in, a text out, nothing remembered."""

    remembers = False

    def __init__(self, skill: Skill, project: str) -> None:
        self.skill, self.project = skill, project
        self._answered = ""

    def begin(self, skill: Skill, params: Mapping[str, str]) -> list[str]:
        """The command that prints the first step."""
        del params
        return [sys.executable, skill.script, "--step", "1", "--total-steps", str(len(skill.workflow.steps))]

    def call(self, argv: list[str]) -> Block:
        """Print the step that the command names, of the graph as the script now has it."""
        code, text, errors = baseline.main(loading.workflow_of_script(argv[1]), argv[:2], argv[2:])
        return Block(Printed(code, text, errors))

    def call_at_once(self, first: list[str], second: list[str]) -> tuple[Block, Block, bool]:
        """Nothing is shared that they could meet at."""
        return self.call(first), self.call(second), True

    def states(self) -> dict[str, str]:
        """No run has a state."""
        return {}

    def changes(self, run: str) -> list[dict[str, Any]]:
        """Nothing is recorded."""
        del run
        return []

    def answer(self, block: Block, answer: str, reason: str) -> Block:
        """The person speaks, and the agent goes on as it understood."""
        del reason
        step = self.skill.workflow.step(block.id)
        target = baseline.target_of_answer(step, answer)
        number = str(self.skill.workflow.number(target)) if target else flag_value(block.next, "--total-steps")
        return self.call([*block.next[:2], "--step", str(number), *block.next[4:]])


@contextlib.contextmanager
def own_ledgers() -> Iterator[None]:
    """Each project keeps its own ledger while the body runs, whatever the surroundings say; commands are short."""
    names = ("LOCKSTEP_HOME", "LOCKSTEP_STATE", launcher.SWITCH)
    kept = {name: os.environ.pop(name) for name in names if name in os.environ}
    with tempfile.TemporaryDirectory(prefix="lockstep-state-") as folder:
        os.environ["LOCKSTEP_STATE"] = folder
        try:
            yield
        finally:
            del os.environ["LOCKSTEP_STATE"]
            os.environ.update(kept)
