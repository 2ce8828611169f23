"""The text of a SKILL.md, read with a size limit, decoded, and split into frontmatter and body; and its error."""

from __future__ import annotations

from pathlib import Path

from skills.lib import files
from skills.lib.errors import SkillError

FILE_NAME = "SKILL.md"
FRONTMATTER_LIMIT = 64_000
FILE_LIMIT = 1_000_000

_ALLOWED_CONTROLS = "\t\n"


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


def read_source(path: Path) -> tuple[str, str, int]:
    """The frontmatter and the body of a SKILL.md, and the number of the body's first line.

    Raises SkillFileError if it is no regular file, too large, not text, or has no frontmatter.
    """
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
    return frontmatter, "\n".join(lines[closing + 1 :]), closing + 2


def read_bytes(path: Path, limit: int) -> bytes:
    """At most ``limit`` bytes of a regular file; never blocks on a FIFO or a device."""
    try:
        return files.read(path, limit)
    except files.NotRegular:
        raise SkillFileError(path, "is not a regular file", remedy="replace it with a plain file") from None
    except files.TooLarge:
        what = f"is larger than {limit:,} bytes"
        raise SkillFileError(path, what, remedy="move reference material into resources/") from None
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or str(error)
        raise SkillFileError(
            path, f"cannot be opened: {cause}", remedy="check that it exists and is readable"
        ) from error


def decode(path: Path, data: bytes) -> str:
    """The UTF-8 text with ``\\n`` line ends and no byte order mark. Raises SkillFileError for a control character."""
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
    """True if a character is one that a terminal obeys or that XML 1.0 does not have."""
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
