"""The places that findings name: path:line, in a file of the project."""

from __future__ import annotations

import os
import re

from skills.lib.git import Git, GitProblem
from skills.lib.ledger.contents import blob_id, content_id
from skills.lib.paths import is_within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_PLACE = re.compile(r"(?P<path>[^:`|\n]+)(?::(?P<line>[1-9]\d*)(?:-(?P<last>[1-9]\d*))?(?::\d+)?)?")
# How much of a file is read for a place.
LOOKED_AT = 16 << 20


def look(project: str, text: str, bases: Sequence[str] = ()) -> dict[str, Any]:
    """What a place leads to: its ``file`` (empty if none), the file's ``content``, and ``why`` it is not there.

    A place is a path from the project's root, or from one of ``bases``, with a line or lines: src/a.py:3-8. It may
    quote a piece of the line behind it. ``text`` is a digest of the file without blank lines and blanks at line ends;
    empty if it is no text. ``lacks_line`` is True if the place names no line of a text, ``was_there`` if the
    file is gone and the last commit has it.
    """
    where, words = _quotation(text.strip())
    place = _PLACE.fullmatch(where.strip().strip("`"))
    path = place["path"].strip() if place else ""
    if place is None or not path or os.path.isabs(path):
        return {"file": "", "content": "", "why": f"{text[:80]!r} does not begin with a path of the project"}
    for base in ("", *bases):
        file = os.path.normpath(os.path.join(base, path))
        if is_within(project, file) and os.path.isfile(os.path.join(project, file)):
            why = _line_fault(project, file, place["line"], place["last"], words)
            full = os.path.join(project, file)
            found = {
                "file": file,
                "content": content_id(full, project),
                "why": why and f"{file} {why}",
                "text": _text_id(full),
            }
            return {**found, "lacks_line": bool(found["text"]) and place["line"] is None}
    file = os.path.normpath(path)
    if not is_within(project, file):
        return {"file": "", "content": "", "why": f"{path[:80]!r} leads out of the project"}
    was_there = _was_there(project, file)
    return {"file": file, "content": "", "why": f"{file[:200]} is no file of the project", "was_there": was_there}


def _was_there(project: str, path: str) -> bool:
    """True if the file is gone, and the last commit has it."""
    if os.path.lexists(os.path.join(project, path)):
        return False
    try:
        return bool(Git(project).output("ls-tree", "-z", "HEAD", "--", path.replace(os.sep, "/")))
    except GitProblem:
        return False


def _text_id(path: str) -> str:
    """A digest of a text without its blank lines and the blanks at line ends; empty for other files, and large ones."""
    try:
        with open(path, "rb") as file:
            data = file.read(LOOKED_AT + 1)
    except OSError:
        return ""
    if len(data) > LOOKED_AT or b"\0" in data:
        return ""
    lines = [line.rstrip() for line in data.splitlines()]
    kept = b"\n".join([line for line in lines if line])
    return blob_id(len(kept), [kept]) if kept else ""


def _quotation(text: str) -> tuple[str, str]:
    """A place, and what it quotes behind it (src/a.py:3 `return total`); empty if it quotes nothing."""
    begin = -1
    if text.endswith("`"):
        begin = text.rfind("`", 0, -1)
    elif text.endswith(('"', "”")):
        begin = max(text.rfind('"', 0, -1), text.rfind("”", 0, -1))
        if begin < 0 or text[begin] == "”":
            begin = text.find("“", begin + 1, -1)
    if begin <= 0 or begin == len(text) - 2:
        return text, ""
    return text[:begin], text[begin + 1 : -1]


def _line_fault(project: str, path: str, first: str | None, last: str | None, words: str) -> str:
    if first is None:
        return ""
    try:
        with open(os.path.join(project, path), "rb") as file:
            data = file.read(LOOKED_AT + 1)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    lines = data[:LOOKED_AT].decode("utf-8", "replace").splitlines()
    # More digits than these are beyond every file, and Python does not read thousands.
    low, high = int(first[:12]), int((last or first)[:12])
    if not low <= high <= max(len(lines), 1):
        if len(data) > LOOKED_AT:
            return f"is too large: only its first {LOOKED_AT:,} bytes are looked at, which have {len(lines):,} lines"
        return f"has {len(lines)} lines"
    there = " ".join(" ".join(lines[low - 1 : high]).split())
    if words and " ".join(words.split()) not in there:
        return f"has something else in line {first}" + (f": {there[:120]!r}" if _is_public(project, path) else "")
    return ""


def _is_public(project: str, path: str) -> bool:
    """True if the file is not hidden, and git has it or would take it: what it says may be printed and kept."""
    real = os.path.relpath(os.path.realpath(os.path.join(project, path)), os.path.realpath(project))
    if any(part.startswith(".") for name in (path, real) for part in name.split(os.sep)):
        return False
    try:
        listed = Git(project).output("ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", real)
    except GitProblem:
        return False
    return bool(listed) if listed is not None else not os.path.lexists(os.path.join(project, ".git"))
