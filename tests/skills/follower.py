"""An agent as the tests need one: it knows the last printed block, fills in the NEXT command and runs it."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import TypeAlias

from skills.lib.blocks.command_line import join, lockstep_command
from skills.lib.testing import blocks
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock, filled, placeholders
from skills.lib.testing.follower import InProcess, Shell
from skills.lib.testing.memory import Memory
from skills.lib.testing.transitions import ProjectCopies

SKILLS = Path(__file__).resolve().parents[2] / "skills"

Values: TypeAlias = "dict[str, str | list[str]]"


class Block(blocks.PrintedBlock):
    """One printed document, with what tests of skills compare."""

    @property
    def at(self) -> str:
        """The step's id, or the kind of a document that is no step."""
        return self.step if self.kind == "step" else self.kind

    @property
    def result(self) -> dict[str, str]:
        """What the end of a run shows, by name."""
        return {name.rpartition(".")[2]: text for name, text in super().result.items()}

    def stable(self) -> str:
        """The text without what differs from run to run and machine to machine."""
        text = without_places(self.text)
        text = text.replace(self.run, "RUN") if self.run else text
        return re.sub(r"--project [^\s<]+", "--project PROJECT", text)


def commands(block: Block) -> list[str]:
    """The command of each sub-agent that is still to work."""
    return [str(command.text) for command in block.root.iterfind("DISPATCH/child/command")]


def without_places(text: str) -> str:
    """The text with PYTHON, ROOT and LOCKSTEP for the paths of this machine, quoted or not."""
    root, text = str(SKILLS.parent), text.replace(f"`{join(lockstep_command())} ", "`LOCKSTEP ")
    for place in (sys.executable, root):
        if shlex.quote(place) != place:
            text = re.sub(f"'({re.escape(place)}[^'\n]*)'", r"\1", text)
    return text.replace(sys.executable, "PYTHON").replace(root, "ROOT")


class Follower:
    """Walks a skill by what its script prints, from a folder that is not the skill's.

    Commands run in this process, or with ``shell`` in a shell, as an agent's tool runs them.
    """

    def __init__(self, script: str, folder: Path, *, shell: bool = False) -> None:
        self.script = SKILLS / script
        self.folder = folder
        self._call = self.shell if shell else self._in_process
        self._memory = Memory()

    def with_shell(self) -> Follower:
        """The same agent, with a shell."""
        return Follower(str(self.script), self.folder, shell=True)

    def begin(self, *arguments: str) -> Block:
        """Open a run as SKILL.md says."""
        return self.run(shlex.join([sys.executable, str(self.script), "--step", "1", *arguments]))

    def follow(self, block: Block, values: Values, by_file: bool = False) -> Block:
        """Put the values into the NEXT command of a block, add those that it may leave out, and run it."""
        if by_file:
            return self.run(filled(_through_file(block.next, values, self.folder), values))
        there = placeholders(block.next)
        optional = [
            spec for spec in block.specs if spec.name in values and not spec.required and spec.name not in there
        ]
        more = [word for spec in optional for word in spec.argument(values[spec.name])]
        return self.run(" ".join(filter(None, [filled(block.next, values), shlex.join(more)])))

    def run(self, command: str) -> Block:
        """Run one command line; what a brief block leaves out is remembered."""
        block = self._memory.of(command, self._call(command))
        assert isinstance(block, Block)
        return block

    def shell(self, command: str) -> Block:
        """Run one command line as an agent's shell tool does."""
        done = Shell(self.folder, {"LC_ALL": "C"})(command)
        return _block(done.exit_code, done.text, done.errors)

    def _in_process(self, command: str) -> Block:
        with chdir(self.folder):
            done = InProcess()(command)
        return _block(done.exit_code, done.text, done.errors)


def _block(exit_code: int, text: str, errors: str) -> Block:
    told = errors.splitlines()
    assert all(line.startswith("lockstep: running ") for line in told), told
    return Block(exit_code, text)


def _through_file(command: str, values: Values, folder: Path) -> str:
    file = folder / "values.json"
    file.write_text(json.dumps(values), encoding="utf-8")
    words = shlex.split(command)
    while "--record" in words:
        at = words.index("--record")
        del words[at : at + 2]
    return shlex.join([*words, "--record-file", str(file)])


def reached(copies: ProjectCopies, point: str, agent: Agent, reach: Callable[[], PrintedBlock]) -> PrintedBlock:
    """Put the copy of that point back, or reach and keep it; the block that the agent then has."""
    block = copies.restore(point, agent)
    if block is None:
        block = reach()
        copies.keep(point, agent, block)
    return block
