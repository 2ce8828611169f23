"""The error of a SKILL.md that cannot be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills.lib.errors import SkillError

if TYPE_CHECKING:
    from pathlib import Path


class SkillFileError(SkillError):
    """A SKILL.md, or a folder that should hold one, cannot be read: file, line, column, cause, remedy.

    Lines and columns count from 1; 0 means the file as a whole. The cause never quotes more than a key of the file,
    because a link may have led to a file that is nobody's business.
    """

    def __init__(self, path: Path, cause: str, *, line: int = 0, column: int = 0, remedy: str) -> None:
        where = ":".join([str(path), *(str(number) for number in (line, column) if number)])
        super().__init__(f"{where}: {cause}", remedy=remedy)
        self.path = path
        self.line = line
        self.column = column
        self.cause = cause
