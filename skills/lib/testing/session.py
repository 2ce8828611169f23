"""One walk of a skill through its printed commands: what the pytest fixture ``lockstep`` gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skills.lib.errors import UsageError
from skills.lib.testing.agent import Agent
from skills.lib.testing.follower import show_again
from skills.lib.testing.transitions import entry_scripts, find

if TYPE_CHECKING:
    from pathlib import Path

    from skills.lib.testing.agent import Taken
    from skills.lib.testing.blocks import PrintedBlock


class Session:
    """One walk of one skill: ``block`` is what was printed last."""

    def __init__(self, script: str | Path, project: Path) -> None:
        (project / ".lockstep").mkdir(parents=True, exist_ok=True)
        self.agent = Agent(script, project)
        self.project = project
        self.block: PrintedBlock
        self.run = ""

    def start(self, *words: str, **parameters: Any) -> PrintedBlock:
        """Open a run with these parameters (those that are needed and not given are made up)."""
        self.block = self.agent.open(*words, **parameters)
        self.run = self.block.run
        return self.block

    def next(self, **values: Any) -> PrintedBlock:
        """Run the printed NEXT command with these values in its placeholders."""
        return self.command(self.block.command(values))

    def command(self, command: str) -> PrintedBlock:
        """Run a command, printed or not."""
        self.block = self.agent.run_command(command)
        return self.block

    def children(self, verdict: str = "pass") -> PrintedBlock:
        """Play every sub-agent of the present block, with that verdict, and show the run's present step."""
        for child in self.block.children:
            if child.command:
                self.agent.finish(child.command, verdict)
        return self.command(show_again(self.block))

    def answer(self, answer: str, reason: str = "") -> PrintedBlock:
        """Answer the present question as a person at a terminal."""
        self.block = self.agent.answer(self.block, answer, reason)
        return self.block

    def write(self, path: str, content: str = "written by a test\n") -> None:
        """Write a file of the project, such as an artifact that a step asks for."""
        self.agent.write(path, content)

    @property
    def step(self) -> str:
        """The step that was printed last; empty if the run is done, or the last command was refused."""
        return self.block.step

    @property
    def refused(self) -> str:
        """Why the last command was refused, in one word; empty if it was not."""
        return self.block.code

    @property
    def done(self) -> bool:
        """True if the run has ended."""
        return self.block.kind == "done"

    @property
    def taken(self) -> list[Taken]:
        """The transitions so far, as the ledger has them."""
        return self.agent.taken(self.run)


def begin(where: str | Path, project: Path) -> Session:
    """The session of a skill in a project; ``where`` is the skill's folder or its entry script."""
    scripts = entry_scripts(find(where))
    if len(scripts) > 1:
        raise UsageError(f"{where} has {len(scripts)} scripts", valid=", ".join(script.name for script in scripts))
    return Session(scripts[0], project)
