"""Whether git has the ledger among the files of a commit, where a clone would find what its runs recorded."""

from __future__ import annotations

import os
import time

from skills.lib import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# A larger index (bytes) is not looked through.
_LARGEST = 64 << 20
# How long git is waited for, in seconds.
_PATIENCE = 2.0


def tracked(path: str) -> str:
    """The root of the repository whose index has the file; empty if there is none.

    Git is called only if the bytes of the index have the file's name: a call takes as long as a step.
    """
    root = next((folder for folder in _above(path) if os.path.lexists(os.path.join(folder, ".git"))), "")
    if not root or os.path.basename(path).encode() not in _content(_index(root)):
        return ""
    from skills.lib.git import Git, GitProblem  # it brings subprocess

    try:
        below = os.path.relpath(path, root).replace(os.sep, "/")
        found = Git(root, deadline=time.monotonic() + _PATIENCE).output("ls-files", "-z", "--", below)
    except GitProblem:
        return ""
    return root if found else ""


def _above(path: str) -> Iterator[str]:
    while path != os.path.dirname(path):
        path = os.path.dirname(path)
        yield path


def _index(root: str) -> str:
    """The index of a working tree; that of a linked one is in the folder that its file ``.git`` names."""
    place = os.path.join(root, ".git")
    if not os.path.isdir(place):
        named = _content(place)[:4096].decode("utf-8", "replace").removeprefix("gitdir:").strip()
        place = os.path.join(root, named)
    return os.path.join(place, "index")


def _content(path: str) -> bytes:
    """The content of a regular file; empty if it is no such file, or too large."""
    try:
        return files.read(path, _LARGEST)
    except (OSError, ValueError):
        return b""
