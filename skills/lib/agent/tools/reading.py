"""The tool ``read``: the lines of a text file, numbered."""

from __future__ import annotations

from skills.lib.agent.tools import encodings, workspace
from skills.lib.agent.tools.tool import Result, Tool
from skills.lib.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills.lib.agent.tools.workspace import Workspace

# How many lines are shown, of each so many characters, and how many characters in all.
LINES, LINE, LONGEST = 2_000, 2_000, 40_000
_IMAGES = {
    b"\x89PNG\r\n\x1a\n": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF87a": "a GIF image",
    b"GIF89a": "a GIF image",
    b"BM": "a BMP image",
    b"II*\0": "a TIFF image",
    b"MM\0*": "a TIFF image",
    b"%PDF-": "a PDF document",
    b"PK\x03\x04": "a ZIP archive",
    b"\x1f\x8b": "a gzip archive",
    b"\x7fELF": "a program",
}
_PRINTED = "read shows text files; a program that reads it may be run by shell"
# What shows the content of an archive, by the same beginnings.
_OPENED = {b"PK\x03\x04": "python -m zipfile -l", b"\x1f\x8b": "gzip -dc"}


def tool(files: Workspace) -> Tool:
    """The tool ``read`` of a workspace."""

    def read(path: str, offset: int = 1, limit: int = LINES, encoding: str = encodings.UTF_8) -> Result:
        return _read(files, path, offset, limit, encodings.canonical(encoding))

    return Tool(
        name="read",
        about=(
            f"Read a text file. Lines of the project are numbered; at most {LINES:,} are shown, from line `offset`."
        ),
        parameters={
            "path": {"type": "string", "description": "The file, relative to the project."},
            "offset": {"type": "integer", "minimum": 1, "description": "The first line that is shown; default 1."},
            "limit": {"type": "integer", "minimum": 1, "maximum": LINES, "description": "How many lines are shown."},
            "encoding": {"type": "string", "description": "Such as latin-1, cp1252, utf-16; default utf-8."},
        },
        required=("path",),
        run=read,
        reads=True,
    )


def numbered(lines: Sequence[str], first: int) -> str:
    """Lines with their numbers; a long one is cut."""
    return "".join(f"{number:>6}\t{_cut(line)}\n" for number, line in enumerate(lines, first))


def lines_of(text: str) -> list[str]:
    """The lines of a text; only a line feed ends one, and a carriage return before it is left out."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def require_text(data: bytes, name: str, encoding: str = encodings.UTF_8) -> None:
    """UsageError if the content of a file is no text in an encoding; it says what it is."""
    image = next((what for begin, what in _IMAGES.items() if data.startswith(begin)), "")
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        image = "a WebP image"
    if (workspace.is_binary(data) and encoding not in encodings.WIDE) or (image and not workspace.is_utf8(data)):
        if marked := encodings.marked(data):
            raise UsageError(f"{name} is not {encoding}", remedy=f'read it with encoding="{marked}"')
        what = f"{name} is {image or 'binary'}, {len(data):,} bytes"
        raise UsageError(what, valid="a text file", remedy=_printed(data, name))


def _printed(data: bytes, name: str) -> str:
    program = next((program for begin, program in _OPENED.items() if data.startswith(begin)), "")
    return f"`{program} {name}` by shell" if program else _PRINTED


def _read(files: Workspace, given: str, offset: int, limit: int, encoding: str) -> Result:
    path = files.to_read(given)
    name = files.name(path)
    data = workspace.content(path, name)
    require_text(data, name, encoding)
    lines = lines_of(files.text_of(path, encodings.decoded(data, encoding, name)))
    if offset > max(len(lines), 1):
        raise UsageError(
            f"{name} has {workspace.counted(len(lines), 'line')}", valid=f"an offset of 1 to {max(len(lines), 1):,}"
        )
    last, size = offset - 1, 0
    while last < len(lines) and last < offset - 1 + limit:
        size += min(len(lines[last]), LINE) + 8
        if size > LONGEST:
            break
        last += 1
    files.note_shown(path, data, offset, last if last < len(lines) else workspace.count_of_lines(data))
    is_read_so = encoding != encodings.UTF_8 and not workspace.is_utf8(data)
    notes = f"[read as {encoding}; what write writes is UTF-8]\n" if is_read_so else ""
    if not lines:
        notes = f"[{name} is empty]\n"
    elif last < len(lines):
        notes += f"[lines {offset:,} to {last:,} of {len(lines):,}; go on with offset={last + 1}]\n"
    elif offset > 1:
        notes += f"[lines {offset:,} to {last:,}, the last]\n"
    shown = lines[offset - 1 : last]
    # Numbers serve edits, and cost a model a tenth of a text.
    text = "".join(f"{_cut(line)}\n" for line in shown) if files.is_only_read(path) else numbered(shown, offset)
    return Result(text + notes)


def _cut(line: str) -> str:
    return line if len(line) <= LINE else f"{line[:LINE]} [{len(line) - LINE:,} characters more]"
