"""Follows runs by the commands that their blocks print; an agent, a test or a person says what is reported."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skills.lib import compact_json, paths
from skills.lib.engine.children import task_workflow
from skills.lib.ledger import Ledger
from skills.lib.testing.blocks import PrintedBlock, filled
from skills.lib.testing.calls import AsPerson, InProcess

if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills.lib.ledger import Event
    from skills.lib.model.run import Run
    from skills.lib.model.steps import Workflow
    from skills.lib.testing.calls import ScriptedCaller


class Follower:
    """Runs the printed commands of one project by ``call``; ``blocks`` are the blocks so far."""

    def __init__(self, script: str | Path, project: str | Path, call: ScriptedCaller | None = None) -> None:
        self.script = str(Path(script).resolve())
        self.project = Path(project).resolve()
        self.call: ScriptedCaller = call or InProcess()
        self.blocks: list[PrintedBlock] = []

    @property
    def workflow(self) -> Workflow:
        """The graph that the script walks."""
        return self._workflow_of_script(self.script)

    def run_command(self, command: str) -> PrintedBlock:
        """Run one command and keep what it printed."""
        self.blocks.append(self.call(command))
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
        person = AsPerson(str(self.project), self._workflow_of_script)
        self.blocks.append(person(shlex.join([sys.executable, self.script, *words])))
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
        ledger = Ledger(paths.home(str(self.project)))
        try:
            return ledger.runs(ids)
        finally:
            ledger.close()

    def events(self, run: str | None = None) -> list[Event]:
        """What the ledger recorded of a run, or of all."""
        ledger = Ledger(paths.home(str(self.project)))
        try:
            return ledger.events(run)
        finally:
            ledger.close()

    def workflow_of(self, block: PrintedBlock) -> Workflow:
        """The graph of the run that a block is about: the script's own, or a sub-agent's."""
        return self._workflow_of_run(block.run, block.next)

    def _workflow_of_run(self, run: str, command: str) -> Workflow:
        found = self.state(run)
        if found.parent and not found.spec.get("script"):
            return task_workflow(found.workflow, found.spec)
        return self._workflow_of_script(shlex.split(command)[1])

    def _workflow_of_script(self, script: str) -> Workflow:
        return (self.call if isinstance(self.call, InProcess) else InProcess()).workflow(script)


def show_again(block: PrintedBlock) -> str:
    """The command that prints the block again: its own NEXT, asked for the present step and without a turn."""
    words = shlex.split(block.next)
    words[words.index("--step") + 1] = "current"
    at = words.index("--turn")
    project = words.index("--project")
    return shlex.join([*words[:at], *words[project : project + 2]])
