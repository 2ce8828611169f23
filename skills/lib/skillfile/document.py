"""A SKILL.md as a value."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from skills.lib.skillfile.frontmatter import parse_frontmatter
from skills.lib.skillfile.source import FILE_NAME, SkillFileError, read_source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from skills.lib.skillfile.frontmatter import Node


@dataclass(frozen=True, slots=True)
class SkillFile:
    """What a SKILL.md says.

    ``metadata`` holds every field of the frontmatter (all scalars as text) and ``lines`` the line of each;
    ``body_line`` is the line on which the body begins.
    """

    name: str
    description: str
    body: str
    metadata: Mapping[str, Node]
    path: Path
    lines: Mapping[str, int]
    body_line: int

    @property
    def folder(self) -> Path:
        """The skill's folder."""
        return self.path.parent


def load_skill(path: str | os.PathLike[str]) -> SkillFile:
    """Read the SKILL.md at ``path``, or in the folder ``path``, strictly.

    Raises SkillFileError naming file, line, column, cause and remedy. ``check_specification`` says whether
    the file also meets the Agent Skills specification.
    """
    file = locate(Path(path))
    fields, lines, body, body_line = read_fields(file)
    for field in ("name", "description"):
        if field not in fields:
            raise SkillFileError(file, f"the frontmatter has no {field}", line=1, remedy=f"add a line `{field}: …`")
        if not isinstance(fields[field], str):
            raise SkillFileError(file, f"{field} is not text", line=lines[field], remedy=f"write `{field}: some text`")
    return SkillFile(
        str(fields["name"]),
        str(fields["description"]),
        body,
        MappingProxyType(fields),
        file,
        MappingProxyType(lines),
        body_line,
    )


def locate(path: Path) -> Path:
    """The SKILL.md that a path means; a link is followed only inside the skill's folder."""
    file = path / FILE_NAME if path.is_dir() else path
    if file.is_symlink() and not leads_into(file.parent, file):
        raise SkillFileError(file, "is a link that leads out of its folder", remedy="put the file itself there")
    return file


def leads_into(folder: Path, path: Path) -> bool:
    """True if a path, its links followed, is under a folder; a loop of links leads nowhere."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def read_fields(file: Path) -> tuple[dict[str, Node], dict[str, int], str, int]:
    """The fields, their lines, the body and its first line."""
    frontmatter, body, body_line = read_source(file)
    return *parse_frontmatter(frontmatter, file), body, body_line
