"""An agent as the tests need one: it knows the last printed block, fills in the NEXT command and runs it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import chdir
from pathlib import Path
from typing import TypeAlias

from lxml import etree

from skills.lib.testing.blocks import filled
from skills.lib.testing.calls import InProcess
from skills.lib.testing.documents import parse

SKILLS = Path(__file__).resolve().parents[2] / "skills"

Values: TypeAlias = "dict[str, str | list[str]]"


class Block:
    """One printed document: its exit code, its text, and what a reader takes from it."""

    def __init__(self, exit_code: int, text: str) -> None:
        self.exit_code = exit_code
        self.text = text
        self.root: etree._Element = parse(text)

    @property
    def at(self) -> str:
        """The step's id, or the kind of a document that is no step."""
        return self.root.get("id", "") if self.root.tag == "step" else str(self.root.tag)

    @property
    def next(self) -> str:
        """The command that goes on."""
        return self.words("NEXT")

    @property
    def context(self) -> dict[str, str]:
        """What CONTEXT shows: the text of each value under its step.name, of a run parameter under its name."""
        return {
            ".".join(filter(None, (value.get("step"), value.get("name")))): value.text or ""
            for value in self.root.iterfind("CONTEXT/value")
        }

    @property
    def result(self) -> dict[str, str]:
        """What the end of a run shows, by name."""
        return {value.get("name", ""): value.text or "" for value in self.root.iterfind("RESULT/value")}

    @property
    def outcomes(self) -> dict[str, str]:
        """Where each outcome leads."""
        return {way.get("name", ""): way.get("to", "") for way in self.root.iterfind("INVOKE_AFTER/outcome")}

    def words(self, tag: str) -> str:
        """The text of the one element of that tag."""
        element = self.root.find(tag)
        assert element is not None, f"no {tag} in\n{self.text}"
        return "".join(str(text) for text in element.itertext())

    def stable(self) -> str:
        """The text without what differs from run to run and machine to machine."""
        text = without_places(self.text)
        run = self.root.get("run")
        if run:
            text = text.replace(run, "RUN")
        return re.sub(r"--project \S+", "--project PROJECT", text)


def without_places(text: str) -> str:
    """The text with PYTHON and ROOT for the paths of this machine, quoted or not."""
    root = str(SKILLS.parent)
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

    def with_shell(self) -> Follower:
        """The same agent, with a shell."""
        return Follower(str(self.script), self.folder, shell=True)

    def begin(self, *arguments: str) -> Block:
        """Open a run as SKILL.md says."""
        return self.run(shlex.join([sys.executable, str(self.script), "--step", "1", *arguments]))

    def follow(self, block: Block, values: Values, by_file: bool = False) -> Block:
        """Put the values into the NEXT command of a block and run it."""
        command = _through_file(block.next, values, self.folder) if by_file else block.next
        return self.run(filled(command, values))

    def run(self, command: str) -> Block:
        """Run one command line."""
        return self._call(command)

    def shell(self, command: str) -> Block:
        """Run one command line as an agent's shell tool does."""
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.folder,
            env={**os.environ, "LC_ALL": "C"},
            capture_output=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
        )
        return _block(done.returncode, done.stdout.decode(), done.stderr.decode())

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
