"""The files of a migration, put in place so that the script is at every moment the old one or the new one.

The new script is the last to be written, in one step; whatever stops before leaves the old one as it was, and what
lies beside it is taken again the next time. Nothing that differs is overwritten.
"""

from __future__ import annotations

import difflib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass

from skills.lib.errors import EnvironmentProblem, RefusedError

BACKUP = ".legacy"


@dataclass(frozen=True)
class Change:
    """A file that is written: its path, its old text (None where there is none) and its new one."""

    path: str
    old: str | None
    new: str

    def diff(self) -> Iterator[str]:
        """The lines of the unified diff, without line ends."""
        shown = os.path.relpath(self.path)
        shown = self.path if shown.startswith("..") else shown
        before = "/dev/null" if self.old is None else f"a/{shown}"
        old, new = (text.removesuffix("\n").split("\n") if text else [] for text in (self.old, self.new))
        return difflib.unified_diff(old, new, before, f"b/{shown}", lineterm="")


def changes(script: str, old: str, entry: str, workflow: str, prompts: str) -> list[Change]:
    """What is written for a script: the graph and the texts beside it, then the script itself."""
    stem = script.removesuffix(".py")
    return [
        Change(f"{stem}_workflow.py", None, workflow),
        Change(f"{stem}_prompts.md", None, prompts),
        Change(script, old, entry),
    ]


def check(found: list[Change], raw: bytes) -> None:
    """RefusedError where a new file, or another backup, is in the way."""
    for change in found:
        if change.old is None and _differs(change.path, change.new.encode()):
            raise _in_the_way(change.path)
    backup = found[-1].path + BACKUP
    if _differs(backup, raw):
        raise _in_the_way(backup)


def write(found: list[Change], raw: bytes) -> str:
    """Write the changes and return the path of the backup, which holds the old script byte for byte.

    Raises EnvironmentProblem where a file cannot be written; the script is then as it was.
    """
    script = found[-1].path
    backup = script + BACKUP
    try:
        for change in found[:-1]:
            _put(change.path, change.new.encode(), script)
        _put(backup, raw, script)
        _put(script, found[-1].new.encode(), script)
    except OSError as error:
        named = error.filename or os.path.dirname(script)
        raise EnvironmentProblem(
            f"{named} cannot be written: {error.strerror}", remedy="make its folder writable; the script is as it was"
        ) from error
    return backup


def _put(path: str, content: bytes, like: str) -> None:
    """Write a file whole or not at all, with the mode of another."""
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(like, part)
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.unlink(part)


def _differs(path: str, content: bytes) -> bool:
    """Whether something other than this content is at a path."""
    if not os.path.lexists(path):
        return False
    try:
        with open(path, "rb") as file:
            return file.read() != content
    except OSError:
        return True


def _in_the_way(path: str) -> RefusedError:
    return RefusedError(
        f"{path} exists already, and nothing is overwritten", remedy="move it away, then run this again"
    )
