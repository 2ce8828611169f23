"""What lies beside a SKILL.md: files that are read when they are wanted, and scripts that are run."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from skills.lib import files as reading
from skills.lib.model.texts import printable, shortened
from skills.lib.record import Record
from skills.lib.skillfile.discovery import walk
from skills.lib.skillfile.source import FILE_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator

# How many files are listed, and of how many bytes the lines are counted; longer ones are named by their bytes.
MOST, LARGEST = 200, 4_000_000
_LONGEST = 160
_SCRIPTS = (".py", ".js", ".mjs", ".ts", ".sh", ".bash", ".rb", ".pl")
_LINK = re.compile(r"\[([^\]\n]{1,200})\]\(\s*<?([^)\s>]+)>?[^)\n]*\)")


class SupportingFile(Record):
    """One file of a skill: its path below the folder, what it is for ("" if nothing says it), and its size.

    ``lines`` is 0 for one that is no text.
    """

    path: str
    about: str
    lines: int
    size: int
    is_script: bool = False

    def line(self, folder: str) -> str:
        """The file as a list names it, by its path from the working directory or the root."""
        count, noun = (self.lines, "line") if self.lines else (self.size, "byte")
        size = f"{count:,} {noun}{'' if count == 1 else 's'}"
        kind = "script, " if self.is_script else ""
        return printable(f"{os.path.join(folder, self.path)}{f': {self.about}' if self.about else ''} ({kind}{size})")


def files(folder: str, body: str) -> tuple[SupportingFile, ...]:
    """The files of a skill by their paths; what ``body``, the text of SKILL.md, says of one describes it."""
    said = {os.path.normpath(path): text for text, path in _LINK.findall(body) if not text.endswith(path)}
    return tuple(_described(folder, path, said.get(path, "")) for path in sorted(_paths(folder))[:MOST])


def is_script(path: str) -> bool:
    """True if a file is a script by its name."""
    return path.endswith(_SCRIPTS)


def _paths(folder: str) -> Iterator[str]:
    for place, names, _ in walk(folder):
        below = os.path.relpath(place, folder)
        if any(part.startswith(".") and part != "." for part in below.split(os.sep)):
            continue
        for name in names:
            path = os.path.normpath(os.path.join(below, name))
            if path != FILE_NAME and not name.startswith(".") and os.path.isfile(os.path.join(folder, path)):
                yield path


def _described(folder: str, path: str, said: str) -> SupportingFile:
    whole = os.path.join(folder, path)
    inside = os.path.realpath(whole).startswith(os.path.join(os.path.realpath(folder), ""))
    try:
        size = os.path.getsize(whole)
        data = reading.read(whole, LARGEST) if inside and size <= LARGEST else b""
    except (OSError, ValueError):
        size, data = 0, b""
    text = "" if b"\0" in data[:8_192] else data.decode("utf-8", "replace")
    is_script = path.endswith(_SCRIPTS) or (path.split(os.sep)[0] == "scripts" and data.startswith(b"#!"))
    about = said or _first_words(text, is_script, path)
    return SupportingFile(path, shortened(" ".join(about.split()), _LONGEST), _count(text), size, is_script)


def _first_words(text: str, is_script: bool, path: str) -> str:
    """The first heading or sentence of a text, or of a script's first comment."""
    if is_script:
        return _comment(text)
    if not path.endswith((".md", ".markdown", ".txt", ".rst")):
        return ""
    lines = [line.strip() for line in text.split("\n")]
    if lines[:1] == ["---"] and "---" in lines[1:]:  # a frontmatter
        lines = lines[lines.index("---", 1) + 1 :]
    first = next((line for line in lines if line.strip("#=-*_<>!` ")), "")
    return first.lstrip("#").strip()


def _comment(text: str) -> str:
    """What the first comment or docstring of a script says."""
    for line in text.split("\n")[:20]:
        words = line.strip()
        if not words or words.startswith(("#!", "// @", "#:", "# -*-", '"use strict"', "'use strict'")):
            continue
        for mark in ('"""', "'''", "//", "/**", "/*", "#"):
            if words.startswith(mark):
                said = words.removeprefix(mark).strip(" *#/\"'")
                if said:
                    return said
                break
        else:
            return ""
    return ""


def _count(text: str) -> int:
    return text.count("\n") + (text != "" and not text.endswith("\n"))
