"""The text of a SKILL.md: read with a cap, decoded, and split into frontmatter and body."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from skills.lib.skillfile.errors import SkillFileError

FILE_NAME = "SKILL.md"
FRONTMATTER_LIMIT = 64_000
FILE_LIMIT = 1_000_000

_ALLOWED_CONTROLS = "\t\n"


@dataclass(frozen=True, slots=True)
class Source:
    """The two halves of a SKILL.md; ``body_line`` is the number of the body's first line."""

    path: Path
    frontmatter: str
    body: str
    body_line: int


def read_source(path: Path) -> Source:
    """Read a SKILL.md; SkillFileError where it is no regular file, too large, not text, or has no frontmatter."""
    text = decode(path, read_bytes(path, FILE_LIMIT))
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        raise SkillFileError(
            path,
            "the frontmatter is missing: the first line is not ---",
            line=1,
            remedy="begin the file with a line ---, then name: and description:, then a line ---",
        )
    closing = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if closing is None:
        raise SkillFileError(
            path,
            "the frontmatter is not closed: there is no second line ---",
            line=1,
            remedy="put a line --- after the last field",
        )
    frontmatter = "".join(line + "\n" for line in lines[1:closing])
    if len(frontmatter.encode()) > FRONTMATTER_LIMIT:
        raise SkillFileError(
            path,
            f"the frontmatter is longer than {FRONTMATTER_LIMIT:,} bytes",
            line=1,
            remedy="keep name, description and a few fields there; move the rest into the body",
        )
    return Source(path, frontmatter, "\n".join(lines[closing + 1 :]), closing + 2)


def read_bytes(path: Path, limit: int) -> bytes:
    """At most ``limit`` bytes of a regular file; never blocks on a FIFO or a device."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        raise SkillFileError(
            path, f"cannot be opened: {cause}", remedy="check that it exists and is readable"
        ) from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise SkillFileError(path, "is not a regular file", remedy="replace it with a plain file")
        with os.fdopen(handle, "rb", closefd=False) as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise SkillFileError(path, f"cannot be read: {error.strerror}", remedy="check the disk") from error
    finally:
        os.close(handle)
    if len(data) > limit:
        raise SkillFileError(path, f"is larger than {limit:,} bytes", remedy="move reference material into resources/")
    return data


def decode(path: Path, data: bytes) -> str:
    """UTF-8 text with ``\\n`` line ends and no byte order mark; control characters are refused where they stand."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = _position(data[: error.start].decode("utf-8", "replace"))
        raise SkillFileError(
            path, "is not UTF-8 text", line=line, column=column, remedy="save the file as UTF-8"
        ) from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    at = next((at for at, character in enumerate(text) if is_control(character)), None)
    if at is not None:
        line, column = _position(text[:at])
        raise SkillFileError(
            path,
            f"holds the control character U+{ord(text[at]):04X}",
            line=line,
            column=column,
            remedy="delete it; only tabs and line ends are allowed",
        )
    return text


def is_control(character: str) -> bool:
    """Whether a character is one that a terminal obeys or that XML 1.0 does not have."""
    if character >= " " and character < "\x7f":
        return False
    code = ord(character)
    return (
        (code < 0x20 and character not in _ALLOWED_CONTROLS)
        or 0x7F <= code <= 0x9F
        or 0xD800 <= code <= 0xDFFF
        or code in (0xFFFE, 0xFFFF)
    )


def _position(before: str) -> tuple[int, int]:
    return before.count("\n") + 1, len(before) - before.rfind("\n")
