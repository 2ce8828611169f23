"""The tools ``write`` and ``edit``: a file is written whole or not at all."""

from __future__ import annotations

import json
import os

from skills.lib.agent.tools import outputs, workspace
from skills.lib.agent.tools.nearest_text import nearest_text
from skills.lib.agent.tools.reading import lines_of, numbered, require_text
from skills.lib.agent.tools.tool import Result, Tool
from skills.lib.errors import UsageError
from skills.lib.gateway import tree_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from skills.lib.agent.tools.workspace import Workspace

# How many lines of an edit are shown, and in how many lines a text is said to be that is there several times.
_SHOWN, _NAMED = 12, 8


def tools(files: Workspace) -> list[Tool]:
    """The tools ``write`` and ``edit`` of a workspace."""

    def write(path: str, content: str) -> Result:
        return _write(files, path, content)

    def edit(path: str, old: str, new: str) -> Result:
        return _edit(files, path, old, new)

    file = {"type": "string", "description": "The file, relative to the project."}
    return [
        Tool(
            name="write",
            about="Write a file of the project as a whole. A file that is there must have been read to its end before.",
            parameters={"path": file, "content": {"type": "string", "description": "The whole content."}},
            required=("path", "content"),
            run=write,
        ),
        Tool(
            name="edit",
            about="Replace one place in a file. `old` must stand in the file exactly once, to the last blank.",
            parameters={
                "path": file,
                "old": {"type": "string", "minLength": 1, "description": "The text that is replaced, without numbers."},
                "new": {"type": "string", "description": "The text that takes its place; empty to delete it."},
            },
            required=("path", "old", "new"),
            run=edit,
        ),
    ]


def _write(files: Workspace, given: str, text: str) -> Result:
    path, data = files.to_write(given), text.encode()
    name = files.name(path)
    if len(data) > workspace.LARGEST:
        raise UsageError(f"the content has {len(data):,} bytes", valid=f"at most {workspace.LARGEST:,} bytes")
    with workspace.WRITING:
        is_there = os.path.lexists(path)
        before = workspace.content(path, name) if is_there else b""
        if before and before != data:
            files.require_shown(path, before)
        _replace(files, path, data)
    lines = workspace.counted(workspace.count_of_lines(data), "line")
    if is_there and before == data:
        return Result(f"unchanged: {name} had this content, {lines}\n")
    made = outputs.one(os.path.relpath(path, files.project), len(data), not is_there)
    return Result(f"{'replaced' if is_there else 'new'}: {name}, {lines}\n", {"made": [made]})


def _edit(files: Workspace, given: str, old: str, new: str) -> Result:
    path = files.to_write(given)
    if old == new:
        raise UsageError("old and new are the same text", valid="a new text that differs")
    files.to_read(given)
    name = files.name(path)
    with workspace.WRITING:
        before = workspace.content(path, name)
        require_text(before, name)
        wanted, made = (_with_ends_of(before, text) for text in (old, new))
        at = _only_place(before, wanted, old, name)
        if not made.isascii() and not workspace.is_utf8(before):
            raise UsageError(f"{name} is not UTF-8, and new is not ASCII", valid="a new text of ASCII characters")
        after = before[:at] + made + before[at + len(wanted) :]
        if len(after) > workspace.LARGEST:
            raise UsageError(f"{name} would have {len(after):,} bytes", valid=f"at most {workspace.LARGEST:,} bytes")
        was_known = files.is_shown(path, before)
        _replace(files, path, after, is_shown=was_known)
    first = before.count(b"\n", 0, at) + 1
    last = max(first + workspace.count_of_lines(made) - 1, first)
    lines = lines_of(after.decode("utf-8", "replace"))[first - 1 : last]
    cut = f"[{len(lines) - _SHOWN:,} lines more]\n" if len(lines) > _SHOWN else ""
    where = f"line {first:,} is" if first == last else f"lines {first:,} to {last:,} are"
    return Result(f"edited: {name}; {where} now\n{numbered(lines[:_SHOWN], first)}{cut}")


def _only_place(data: bytes, wanted: bytes, old: str, name: str) -> int:
    """Where a text begins that is there exactly once. Raises UsageError that names the nearest text, or every place."""
    at = data.find(wanted)
    if at < 0:
        near = nearest_text(old, lines_of(data.decode("utf-8", "replace")))
        line = near.partition(":\n")[2].strip()
        exact = f"old={json.dumps(line, ensure_ascii=False)} stands there" if line and not {"\n", "…"} & {*line} else ""
        remedy = exact or "read the file again"
        raise UsageError(f"{name} does not have this text: {old!r:.200}", valid=near, remedy=remedy)
    found = [at]
    while len(found) <= _NAMED and (at := data.find(wanted, at + 1)) >= 0:
        found.append(at)
    if len(found) > 1:
        lines = ", ".join(str(data.count(b"\n", 0, one) + 1) for one in found[:_NAMED])
        more = " and more" if len(found) > _NAMED else ""
        raise UsageError(
            f"{name} has this text several times, in lines {lines}{more}: {old!r:.200}",
            remedy="give more of the text around it, so that it stands there once",
        )
    return found[0]


def _with_ends_of(data: bytes, text: str) -> bytes:
    """A text in bytes, with the line ends of a file if those are all carriage return and line feed."""
    if "\r" not in text and data.count(b"\n") == data.count(b"\r\n"):
        text = text.replace("\n", "\r\n") if b"\r\n" in data else text
    return text.encode()


def _replace(files: Workspace, path: str, data: bytes, is_shown: bool = True) -> None:
    """Write a file with the permissions that it has, and note that its content is known."""
    tree_files.write(path, data, workspace.mode_of(path))
    if is_shown:
        files.note_shown(path, data, 1, workspace.count_of_lines(data))
