"""The files beside a plan's that differ from a commit, so that what is changed while it is carried out is seen."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

from skills.lib.git import Git, GitProblem

from . import tree
from .places import kept_in, read_under
from .stages import FILE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Mapping

# Of how many files each is kept by name; and as a run begins, when its promises are kept with them.
MOST_FILES, AT_FIRST = 500, 100
REST = "other files"
_MADE = ("__pycache__/", ".pyc")


def outside(
    plan: Mapping[str, Any], folder: str, root: str, commit: str = "", most: int = MOST_FILES
) -> dict[str, Any]:
    """The files beside the plan's that differ from a commit (the present one by default), by their digests.

    Empty without git or a commit. If they are very many, one digest stands for all.
    """
    git = Git(root)
    try:
        commit = commit or os.fsdecode(git.output("rev-parse", "--verify", "-q", "HEAD") or b"").strip()
        changed = git.output("diff", "--name-only", "--relative", "-z", commit, "--") if commit else None
        new = git.output("ls-files", "-o", "--exclude-standard", "-z") if commit else None
    except GitProblem:
        return {}
    if changed is None or new is None:
        return {}
    mine = {*tree.results(plan)}
    above = os.path.normpath(folder).replace(os.sep, "/") + "/"
    paths = {os.fsdecode(path) for path in (changed + new).split(b"\0") if path}
    found = {
        path: _digest(root, path)
        for path in sorted(paths - mine)
        if not path.startswith(above) and not kept_in(path) and not any(part in path for part in _MADE)
    }
    if len(found) > most:
        found = {REST: hashlib.sha256(json.dumps(found).encode()).hexdigest()[:16]}
    return {"commit": commit, "files": found}


def since(
    root: str, begun: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The files ``after`` commands were run, but those that had changed ``before`` as they were when it was begun.

    What was committed meanwhile is somebody's work of their own.
    """
    committed = _committed(root, begun["commit"], before["commit"]) if begun and before and after else None
    if committed is None or REST in (*begun["files"], *before["files"], *after["files"]):
        return after
    files = dict(after["files"])
    for path in {*begun["files"], *before["files"]} - committed:
        was = begun["files"].get(path)
        if was != before["files"].get(path):
            files.pop(path, None)
            files.update({path: was} if was else {})
    return {**after, "files": files}


def _committed(root: str, first: str, last: str) -> set[str] | None:
    """The paths that differ between two commits; None if git does not know."""
    try:
        printed = Git(root).output("diff", "--name-only", "--relative", "-z", first, last, "--")
    except GitProblem:
        return None
    return None if printed is None else {os.fsdecode(path) for path in printed.split(b"\0") if path}


def _digest(root: str, path: str) -> str:
    try:
        content = read_under(root, path, FILE_LIMIT)
    except ValueError:
        return "unreadable"
    return tree.ABSENT if content is None else hashlib.sha256(content).hexdigest()[:16]
