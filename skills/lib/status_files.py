"""A small file per open run, for what must know quickly where a run stands: an agent host's hook.

It says what the printed block said: the step, the tools that it allows, the command that goes on. It is no truth: it
is written anew with each block and removed with the last, and whoever finds it at odds with the ledger believes the
ledger. A cloned project may bring anything in its place: no link is followed, and what is no small file is none.
"""

from __future__ import annotations

import os
import stat

from skills.lib import compact_json, files, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_IN_AN_ID = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
# A longer one (bytes) is none: Lockstep writes a few hundred.
_LONGEST = 1_000_000
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_WORDS = ("run", "workflow", "project", "python", "script", "step", "title", "status", "next")


def is_id(text: str) -> bool:
    """Whether a text can be a run's id, and so the name of its marker: letters and digits, with a dot between."""
    return 0 < len(text) <= 100 and all(part and _IN_AN_ID.issuperset(part) for part in text.split("."))


def folder(project: str) -> str:
    """The folder of a project's markers."""
    return os.path.join(paths.home(project), "open")


def write(project: str, run_id: str, marker: dict[str, Any]) -> None:
    """Say where an open run stands. Where that cannot be written, nothing is said rather than something old."""
    place = _place(project, run_id)
    if not place:
        return
    path, text = os.path.join(place, run_id), compact_json.dumps(marker).encode()
    for _ in range(2):  # what else stands in its place goes first
        if _written(path, text):
            return
        files.remove(path)


def remove(project: str, run_id: str) -> None:
    """Forget a run that is open no more."""
    place = _place(project, run_id)
    if place:
        files.remove(os.path.join(place, run_id))


def read(project: str, run_id: str) -> dict[str, Any] | None:
    """What the marker of a run says; None where there is none, or none that is whole and can be read."""
    place = _place(project, run_id)
    try:
        found = compact_json.loads(_content(os.path.join(place, run_id)).decode()) if place else None
    except (OSError, ValueError, RecursionError):
        return None
    return found if _is_marker(found) else None


def _place(project: str, run_id: str) -> str:
    """The folder that a run's marker may be in; "" where the id is none, or the folder a link to another."""
    place = folder(project)
    return place if is_id(run_id) and not os.path.islink(place) else ""


def _written(path: str, text: bytes) -> bool:
    """True if the whole text stands in the file: written over the old one, for a rename takes ten times as long.

    A reader that comes in between finds no JSON, and takes that for none.
    """
    try:
        try:
            file = _opened(path)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
            file = _opened(path)
        try:
            about = os.fstat(file)
            if not stat.S_ISREG(about.st_mode) or about.st_nlink != 1:
                return False
            is_whole = os.write(file, text) == len(text)
            os.truncate(file, len(text))
            return is_whole
        finally:
            os.close(file)
    except OSError:
        return False


def _opened(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | _NO_LINK | _NO_WAIT, 0o600)


def _content(path: str) -> bytes:
    """What is in a file; OSError or ValueError where it is a link, a device, a pipe, or too long."""
    file = os.open(path, os.O_RDONLY | _NO_LINK | _NO_WAIT)
    try:
        about = os.fstat(file)
        if not stat.S_ISREG(about.st_mode) or about.st_size > _LONGEST:
            raise ValueError(f"{path} is no marker")
        return os.read(file, _LONGEST)
    finally:
        os.close(file)


def _is_marker(found: object) -> bool:
    if not isinstance(found, dict) or not all(isinstance(found.get(name), str) for name in _WORDS):
        return False
    tools, parent = found.get("tools"), found.get("parent")
    are_words = isinstance(tools, list) and all(isinstance(tool, str) for tool in tools)
    return are_words and isinstance(found.get("turn"), int) and isinstance(parent, str | None)
