"""What a command made: the files of a project that are new or have changed since it began."""

from __future__ import annotations

import os
import stat
import time

from skills.lib import paths
from skills.lib.agent.tools.workspace import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

# A project with more files, or one whose files take longer to be looked at (seconds), is not looked at.
FILES, SECONDS = 20_000, 1.0
# How many files are named in the result of a call, and how many are recorded.
NAMED, RECORDED = 10, 200
KINDS = {
    **dict.fromkeys((".html", ".htm"), "HTML page"),
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".bmp"), "image"),
    ".json": "JSON",
    ".pdf": "PDF document",
}
_NOT_LOOKED_AT = paths.MADE | {".git", paths.FOLDER}

# Of each file by its path in the project: its number, its size and when it was changed.
Snapshot = dict[str, tuple[int, int, int]]


def snapshot(project: str) -> Snapshot | None:
    """The files of a project as they are; None if there are too many."""
    until = time.monotonic() + SECONDS
    found: Snapshot = {}
    folders = [""]
    while folders:
        below = folders.pop()
        try:
            entries = list(os.scandir(os.path.join(project, below)))
        except OSError:
            continue
        if len(found) + len(entries) > FILES or time.monotonic() > until:
            return None
        for entry in entries:
            path = os.path.join(below, entry.name)
            try:
                about = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if stat.S_ISDIR(about.st_mode):
                if entry.name not in _NOT_LOOKED_AT:
                    folders.append(path)
            elif stat.S_ISREG(about.st_mode):
                found[path] = (about.st_ino, about.st_size, about.st_mtime_ns)
    return found


def made(before: Snapshot | None, after: Snapshot | None) -> list[dict[str, Any]]:
    """The files that are new or have changed: ``path``, ``size`` in bytes, ``kind``, and ``new``.

    Those of a kind come first; none if a snapshot is missing.
    """
    if before is None or after is None:
        return []
    found = [one(path, about[1], path not in before) for path, about in after.items() if before.get(path) != about]
    return sorted(found, key=lambda file: (not file["kind"], not file["new"], file["path"]))


def one(path: str, size: int, new: bool) -> dict[str, Any]:
    """A file as it is recorded."""
    kind = KINDS.get(os.path.splitext(path)[1].lower(), "")
    return {"path": path.encode("utf-8", "replace").decode(), "size": size, "kind": kind, "new": new}


def sentence(files: Sequence[Mapping[str, Any]]) -> str:
    """Files in words, as "new: chart.html (HTML page, 2.3 MB); changed: a.txt (12 bytes)"; empty for none."""
    parts = []
    for word, is_new in (("new", True), ("changed", False)):
        named = [file for file in files[:NAMED] if bool(file.get("new")) is is_new]
        if named:
            parts.append(f"{word}: {', '.join(map(described, named))}")
    more = f"; and {len(files) - NAMED:,} files more" if len(files) > NAMED else ""
    return "; ".join(parts) + more


def described(file: Mapping[str, Any]) -> str:
    """A file with its kind and its size."""
    kind = f"{file['kind']}, " if file.get("kind") else ""
    return f"{shown(str(file['path']))} ({kind}{_bytes(int(file.get('size', 0)))})"


def left(project: str, rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Of the files that were recorded in ``rows`` those that are still there, each once, with the size that it has."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        for file in row.get("files", ()):
            path = str(file["path"])
            is_new = bool(file["new"]) or (path in found and found[path]["new"])
            try:
                size = os.lstat(os.path.join(project, path)).st_size
            except (OSError, ValueError):
                found.pop(path, None)
                continue
            found[path] = one(path, size, is_new)
    return sorted(found.values(), key=lambda file: (not file["kind"], not file["new"], file["path"]))


def _bytes(size: int) -> str:
    for unit, factor in (("MB", 1_000_000), ("kB", 1_000)):
        if size >= factor:
            return f"{size / factor:,.1f} {unit}"
    return f"{size:,} {'byte' if size == 1 else 'bytes'}"
