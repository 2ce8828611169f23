"""The texts of a ``workflow.yaml``: sections of the Markdown file beside it, resources of the skill, conventions."""

from __future__ import annotations

import os
from typing import Any

from skills.lib import paths
from skills.lib.conventions import get_convention
from skills.lib.errors import LockstepError, did_you_mean, nearest
from skills.lib.graphfile.reader import At, GraphFileError, Missing, Problem, Reader
from skills.lib.prompts import LIMIT, sections
from skills.lib.skillfile import source

# The two sections of a step beside its own.
FORBIDDEN, REPEAT = "{} (forbidden)", "{} (repeat)"
CLOSING = "closing"
KINDS = ("section", "resource", "convention")


class Texts:
    """What the steps say; ``sources`` are the files that were read, by path."""

    def __init__(self, file: str, folder: str) -> None:
        self.file = os.path.splitext(file)[0] + ".md"
        self.folder = folder
        self.sources: list[str] = []
        self.sections: dict[str, str] = {}
        self.lines: dict[str, int] = {}
        self.used: set[str] = set()
        self.titles: set[str] = set()  # those that a section may have
        if os.path.lexists(self.file):
            self._read_sections()

    def _read_sections(self) -> None:
        text = self._read(self.file)
        for title, body in sections(text):
            if title in self.sections:
                line = text.count("\n", 0, text.rfind(f"\n## {title}")) + 2
                what = f"the section {title[:60]!r} stands twice"
                raise GraphFileError([Problem(self.file, line, what, remedy="rename one, or join the two")])
            self.sections[title] = body.strip()
        self.lines = {line[3:].strip(): at for at, line in enumerate(text.split("\n"), 1) if line.startswith("## ")}

    def _read(self, file: str) -> str:
        from pathlib import Path

        if not paths.is_of_project(file):
            raise source.SkillFileError(
                Path(file), "it is a link that leads out of its project", remedy="put the file itself there"
            )
        self.sources += [file] if file not in self.sources else []
        return source.decode(Path(file), source.read_bytes(Path(file), LIMIT))

    def find(self, title: str) -> str | None:
        """The section of that title; None if there is none."""
        self.used.add(title)
        return self.sections.get(title)

    def texts(self, reader: Reader, value: Any, at: At, what: str) -> list[str]:
        """The texts that a value of the file stands for: its own, sections, resources and conventions."""
        entries = [(at, value)] if isinstance(value, dict) else reader.items(value, at, what)
        return [text for place, entry in entries for text in self._entry(reader, entry, place, what)]

    def _entry(self, reader: Reader, entry: Any, at: At, what: str) -> list[str]:
        if not isinstance(entry, dict):
            return [reader.text(entry, at, f"an entry of {what}").rstrip("\n")]
        if set(entry) == {"convention", "section"}:
            section = reader.text(entry["section"], (*at, "section"), "section")
            name = reader.text(entry["convention"], (*at, "convention"), "convention")
            return [reader.made(at, get_convention, name, section)]
        found = reader.known(entry, at, KINDS, f"an entry of {what}")
        if len(found) != 1:
            reader.fail(at, f"an entry of {what} is a text, or names one of {', '.join(KINDS)}")
        ((kind, given),) = found.items()
        name = reader.text(given, (*at, kind), kind)
        if kind == "section":
            return [self._section(reader, name, (*at, kind))]
        if kind == "convention":
            return [reader.made((*at, kind), get_convention, name)]
        return [self._resource(reader, name, (*at, kind))]

    def _section(self, reader: Reader, name: str, at: At) -> str:
        found = self.find(name)
        if found is None:
            near = did_you_mean(nearest(name, self.sections))
            file = os.path.basename(self.file)
            reader.fail(at, f"{file} has no section {name[:60]!r}{near}", ", ".join(self.sections))
        return found

    def _resource(self, reader: Reader, name: str, at: At) -> str:
        folder = os.path.join(self.folder, "resources")
        try:
            return self._read(paths.within(folder, name)).strip()
        except LockstepError as error:
            known = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
            near = did_you_mean(nearest(name, known))
            reader.note(at, f"the resource {name[:80]!r} cannot be read: {error.what}{near}", ", ".join(known))
            raise Missing from error

    def unused(self) -> list[Problem]:
        """A problem for each section that no step uses: its text would be lost."""
        return [
            Problem(
                self.file,
                self.lines.get(title, 1),
                f"no step uses the section {title[:60]!r}{did_you_mean(nearest(title, sorted(self.titles)))}",
                remedy="name it as a step: `## id`, `## id (forbidden)`, `## id (repeat)`, `## closing`",
            )
            for title in self.sections
            if title not in self.used and title
        ]
