"""Runs printed commands: in a shell, as an agent's tool does, or in this process, a hundred times as fast."""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import sys
from contextlib import closing, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Protocol

from skills.lib.blocks import xml
from skills.lib.blocks.command_line import CommandLine, lockstep_command
from skills.lib.errors import LockstepError
from skills.lib.runtime import Runner, cli, loading, main
from skills.lib.testing.blocks import PrintedBlock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

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
        _, script, *arguments = shlex.split(command)
        return self.serve(script, arguments)

    def serve(self, script: str, arguments: list[str]) -> PrintedBlock:
        """Run a step script with these arguments."""
        output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        errors = io.StringIO()
        with redirect_stdout(output), redirect_stderr(errors):
            code = self._serve(os.path.realpath(script), arguments)
        output.flush()
        return PrintedBlock(code, output.buffer.getvalue().decode(), errors.getvalue())

    def workflow(self, script: str) -> Workflow:
        """The graph of a script."""
        known = self.workflows.get(script)
        return known if known is not None else loading.workflow_of_script(script)

    def _serve(self, script: str, arguments: list[str]) -> int:
        try:
            return main(self.workflow(script), arguments, script, exiting=self.leaves)
        except LockstepError as error:
            sys.stderr.write(error.message())
            return error.exit_code


class AsPerson:
    """Serves each command in this process as what a person at a terminal does; a block is XML in every workflow."""

    def __init__(self, project: str, workflow: Callable[[str], Workflow] = loading.workflow_of_script) -> None:
        self.project = project
        self.workflow = workflow

    def __call__(self, command: str) -> PrintedBlock:
        _, script, *arguments = shlex.split(command)
        workflow = self.workflow(script)
        request = cli.parse(workflow, arguments)
        with closing(Runner(CommandLine(sys.executable, script, self.project, lockstep_command()), "person")) as runner:
            if request.run is None:
                response = runner.start(workflow, cli.resolve(workflow, request).params, request.new)
            else:
                response = runner.advance(workflow, request.run, request)
        return PrintedBlock(response.exit_code, xml.render(response.element) + "\n")
