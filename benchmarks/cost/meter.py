"""Counts what is read and typed in one tree of runs."""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from typing import TYPE_CHECKING

from skills.lib import launcher
from skills.lib.blocks.command_line import join, lockstep_command, quote
from skills.lib.testing.blocks import PrintedBlock

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# A value that is longer than this is no path.
PATH = 200
FRAME, FILE, SCRIPT = "frame", "files", "scripts"
# The parts of a block that a document of prose would have too.
_PROSE = ("DO", "FORBIDDEN")
_BEGINS = re.compile(r"  <(?P<tag>[A-Z_]+)[ >/]")
_NOTE = re.compile(r">([^<]+)</")
# A sentence of a step that tells its reader to open a file, and the paths in it.
_BETWEEN = re.compile(r"(?<=[.;])\s+|\n\s*(?:\d+\.|-)\s")
_TELLS = re.compile(r"\b(?:read|open|mend|fix)\b(?!\.)", re.IGNORECASE)
_PATH = re.compile(r"[\w./~-]*[\w-]\.(?:md|json|txt|diff)\b")


class Meter:
    """Characters of one tree; ``known`` has the absolute paths of files that are the project's own."""

    def __init__(self, places: Sequence[tuple[str, str]], project: str, skill: str, known: Iterable[str]) -> None:
        self.places = sorted(places, key=lambda place: -len(place[0]))
        self.project, self.skill, self.known = project, skill, set(known)
        self.commands = self.refused = self.typed = 0
        self.sections: Counter[str] = Counter()
        self.repeated: Counter[str] = Counter()
        self.prose: set[str] = set()
        self.references: dict[str, str] = {}
        self._lines: set[str] = set()

    @property
    def read(self) -> int:
        """Characters that were read."""
        return self.sections.total()

    def neutral(self, text: str) -> str:
        """The text with places of this machine replaced."""
        for place, name in self.places:
            text = text.replace(place, name)
        return text

    def type(self, text: str) -> None:
        """Count what was typed."""
        self.typed += len(self.neutral(text))

    def print(self, block: PrintedBlock) -> None:
        """Count a printed block, and the files that it hands to its reader."""
        self.commands += 1
        self.refused += block.kind == "refused"
        self._see(self.neutral(block.text))
        if block.kind == "step":
            self.prose |= self._prose(block.text)
        for path in self._handed(block):
            with open(path, encoding="utf-8") as file:
                text = self.neutral(file.read())
            self._see(text, FILE)
            if path.startswith(self.skill + os.sep):
                self.references[path] = text

    def show(self, text: str) -> None:
        """Count what a script of the skill printed."""
        self.commands += 1
        self._see(self.neutral(text), SCRIPT)

    def _see(self, text: str, section: str = "") -> None:
        """Count a text line by line, by the part of the block that each is in."""
        for at, line in sectioned(text) if not section else [(section, line) for line in text.splitlines(True)]:
            self.sections[at] += len(line)
            plain = line.strip()
            if plain and plain in self._lines:
                self.repeated[at] += len(line)
            self._lines.add(plain)

    def _prose(self, text: str) -> set[str]:
        """The lines that a document of prose would have too."""
        lines = sectioned(self.neutral(text))
        notes = {note for at, line in lines if at == "RECORD" for note in _NOTE.findall(line)}
        return notes | {line.strip() for at, line in lines if at in _PROSE}

    def _handed(self, block: PrintedBlock) -> list[str]:
        """The absolute paths of the files that a block hands to its reader, each once."""
        values = block.root.iterfind("CONTEXT/value") if block.kind in ("step", "waiting") else ()
        named = [path for value in values for path in (value.get("file"), (value.text or "").strip()) if path]
        if block.kind == "step":
            before = ""
            for sentence in _BETWEEN.split(block.words("DO")):
                if _TELLS.search(sentence):
                    named += _PATH.findall(sentence + before * ("that file" in sentence))
                before = sentence
        found = [self._file(path, block) for path in named if len(path) < PATH and "\n" not in path]
        return [path for path in dict.fromkeys(found) if path]

    def _file(self, path: str, block: PrintedBlock) -> str:
        """The absolute path of a file of the run or a resource of the skill; empty for anything else."""
        named = [value for value in block.context.values() if 0 < len(value) < PATH and "\n" not in value]
        # The texts of planner's sub-agents call their milestone ID.
        milestone = block.context.get("milestone", "").partition(" | ")[0]
        path = re.sub(r"\bID\b", milestone, path) if milestone else path
        folders = [self.project, *(os.path.join(self.project, value) for value in named), self.skill]
        for folder in (*folders, os.path.join(self.skill, "resources")):
            full = os.path.realpath(os.path.join(folder, path))
            own = full.startswith((self.project + os.sep, os.path.join(self.skill, "resources") + os.sep))
            if own and os.path.isfile(full) and full not in self.known:
                return full
        return ""


def sectioned(text: str) -> list[tuple[str, str]]:
    """Each line of a document with the part that it is in; the root's own lines are of the frame."""
    found, part = [], FRAME
    for line in text.splitlines(keepends=True):
        begins = _BEGINS.match(line)
        if begins and part == FRAME:
            part = begins["tag"]
        found.append((part, line))
        if line.rstrip().endswith((f"</{part}>", "/>")) and (begins or line.startswith(f"  </{part}>")):
            part = FRAME
    return found


def places(python: str, product: str, project: str, home: str) -> list[tuple[str, str]]:
    """Paths of this machine, each with its placeholder; ``home`` is the folder for files outside the project."""
    return [
        (join(lockstep_command()), "lockstep"),
        (quote(launcher.place()), "/home/user/.local/state/lockstep/step"),
        (shlex.quote(python), "/usr/bin/python3"),
        (product, "/home/user/lockstep"),
        (project, "/home/user/shop"),
        (home, "/tmp/agent"),
    ]
