"""Runs printed commands and follows runs by them: in a shell, as an agent's tool does, or in this process.

In this process is a hundred times as fast. An agent, a test or a person says what is reported.
"""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import sys
from contextlib import closing, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from skills.lib import compact_json, paths
from skills.lib.blocks import xml
from skills.lib.blocks.command_line import here
from skills.lib.engine.children import task_workflow
from skills.lib.errors import LockstepError
from skills.lib.ledger import Ledger
from skills.lib.runtime import Runner, cli, loading, main
from skills.lib.runtime import script as script_call
from skills.lib.terminal import PERSON
from skills.lib.testing.blocks import PrintedBlock
from skills.lib.testing.commands import argv, called, filled
from skills.lib.testing.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from skills.lib.ledger.history import Event
    from skills.lib.model.run import Run
    from skills.lib.model.steps import Workflow

SECONDS = 120  # a command that has not answered by then hangs


class ScriptedCaller(Protocol):
    """Runs one command line and gives back what it printed."""

    def __call__(self, command: str) -> PrintedBlock:
        """Run ``command``, exactly as it was printed."""


class Shell:
    """Hands each command to ``bash -c`` in ``folder``, with ``environment`` on top of this process's own."""

    def __init__(self, folder: str | Path, environment: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.environment = dict(environment or {})

    def __call__(self, command: str) -> PrintedBlock:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
        )
        return PrintedBlock(done.returncode, done.stdout.decode(), done.stderr.decode())


class InProcess:
    """Splits each command as a shell would and serves it here; ``workflows`` maps a script's path to its graph.

    A script that is not in the map is loaded from its file. Each call closes its ledger, for this process goes on; with
    ``leaves`` it is left as a step leaves it, for a process that then exits.
    """

    def __init__(self, workflows: Mapping[str, Workflow] | None = None, *, leaves: bool = False) -> None:
        self.workflows = dict(workflows or {})
        self.leaves = leaves

    def __call__(self, command: str) -> PrintedBlock:
        (_, script, *arguments), text = called(command)
        return self.serve(script, arguments, text)

    def serve(self, script: str, arguments: list[str], text: str = "") -> PrintedBlock:
        """Run a step script with these arguments, and this text on standard input."""
        before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
        output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        errors = io.StringIO()
        script = os.path.realpath(script)
        with redirect_stdout(output), redirect_stderr(errors):
            try:
                code = main(self.workflow(script), arguments, script, exiting=self.leaves)
            except LockstepError as error:
                sys.stderr.write(error.message())
                code = error.exit_code
            finally:
                sys.stdin = before
        output.flush()
        return PrintedBlock(code, output.buffer.getvalue().decode(), errors.getvalue())

    def workflow(self, script: str) -> Workflow:
        """The graph of a script."""
        known = self.workflows.get(script)
        return known if known is not None else loading.workflow_of_script(script)


class AsPerson:
    """Serves each command in this process as what a person at a terminal does; a block is XML in every workflow."""

    def __init__(self, project: str, workflow: Callable[[str], Workflow] = loading.workflow_of_script) -> None:
        self.project = project
        self.workflow = workflow

    def __call__(self, command: str) -> PrintedBlock:
        _, script, *arguments = argv(command)
        workflow = self.workflow(script)
        request = cli.parse(workflow, arguments)
        with closing(Runner(here(script, self.project), PERSON)) as runner:
            if request.run is None:
                parameters = cli.resolve(workflow, request).params
                response = script_call.quietly(lambda: runner.start(workflow, parameters, request.new))
            else:
                run = request.run
                response = script_call.quietly(lambda: runner.advance(workflow, run, request))
        return PrintedBlock(response.exit_code, xml.render(response.element) + "\n")


class Follower:
    """Runs the printed commands of one project by ``call``; ``blocks`` are the blocks so far."""

    def __init__(self, script: str | Path, project: str | Path, call: ScriptedCaller | None = None) -> None:
        self.script = str(Path(script).resolve())
        self.project = Path(project).resolve()
        self.call: ScriptedCaller = call or InProcess()
        self.blocks: list[PrintedBlock] = []
        self.memory = Memory()

    @property
    def workflow(self) -> Workflow:
        """The graph that the script walks."""
        return self._workflow_of_script(self.script)

    def run_command(self, command: str) -> PrintedBlock:
        """Run one command and keep what it printed."""
        self.blocks.append(self.memory.of(command, self.call(command)))
        return self.blocks[-1]

    def open(self, *words: str, **parameters: Any) -> PrintedBlock:
        """Open a run with these parameters."""
        arguments = [sys.executable, self.script, "--step", "1", "--project", str(self.project)]
        for name, value in parameters.items():
            text = str(value) if isinstance(value, (str, int, float)) else compact_json.readable(value)
            arguments += ["--" + name.replace("_", "-"), text]
        return self.run_command(shlex.join([*arguments, *words]))

    def show(self, run: str) -> PrintedBlock:
        """The present block of a run."""
        words = ["--step", "current", "--run", run, "--project", str(self.project)]
        return self.run_command(shlex.join([sys.executable, self.script, *words]))

    def follow(self, block: PrintedBlock, **values: Any) -> PrintedBlock:
        """Report these values by the block's NEXT command."""
        return self.run_command(block.command(values))

    def answer(self, block: PrintedBlock, answer: str, reason: str = "") -> PrintedBlock:
        """Answer the question of a block as a person at a terminal, and return the block after it, or the refusal."""
        words = ["--step", "next", "--run", block.run, "--turn", str(block.turn), "--project", str(self.project)]
        words += ["--answer", answer, *(["--reason", reason] if reason else [])]
        as_person = AsPerson(str(self.project), self._workflow_of_script)
        self.blocks.append(as_person(shlex.join([sys.executable, self.script, *words])))
        return self.blocks[-1]

    def lose(self, block: PrintedBlock, child: str, reason: str = "it never came back") -> PrintedBlock:
        """Give up on a sub-agent by the command that the block prints for it."""
        return self.run_command(filled(block.words("DISPATCH/lost"), {"child": child, "reason": reason}))

    def state(self, run: str) -> Run:
        """A run as the ledger has it."""
        [found] = self.runs([run])
        return found

    def runs(self, ids: Sequence[str]) -> list[Run]:
        """These runs as the ledger has them."""
        with closing(Ledger(paths.home(str(self.project)))) as ledger:
            return ledger.runs(ids)

    def events(self, run: str | None = None) -> list[Event]:
        """What the ledger recorded of a run, or of all."""
        with closing(Ledger(paths.home(str(self.project)))) as ledger:
            return ledger.events(run)

    def workflow_of(self, block: PrintedBlock) -> Workflow:
        """The graph of the run that a block is about: the script's own, or a sub-agent's."""
        return self._workflow_of_run(block.run, block.next)

    def _workflow_of_run(self, run: str, command: str) -> Workflow:
        found = self.state(run)
        if found.parent and not found.spec.get("script"):
            return task_workflow(found.workflow, found.spec)
        return self._workflow_of_script(argv(command)[1])

    def _workflow_of_script(self, script: str) -> Workflow:
        return (self.call if isinstance(self.call, InProcess) else InProcess()).workflow(script)


def show_again(block: PrintedBlock) -> str:
    """The command that prints the block again: its NEXT with the present step and without a turn."""
    words = argv(block.next)
    words[words.index("--step") + 1] = "current"
    at = words.index("--turn")
    project = words.index("--project")
    return shlex.join([*words[:at], *words[project : project + 2]])
