"""Changes from whole new copies of files: developers write files, difflib writes the diffs.

A milestone's copies stand under ``.changes/<milestone>/``. Where milestones change the same file, each diff is taken
against the file as the ones before leave it. A copy that was begun without what they do (from the working tree, or from
the copy of the first of them) is brought together with theirs, where the two touch different places.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from . import diffs
from .faults import Fault, PlanError, nearest
from .form import parse
from .places import COPIES, RESERVED, path_fault
from .stages import text_of
from .tree import digest
from .waves import in_order

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

REMOVED, COMMENTS = RESERVED
_SKIPPED = "__pycache__"


class Copies(NamedTuple):
    """What a milestone's folder holds: new contents by path (None for a removed file) and comments by path."""

    texts: dict[str, str | None]
    comments: dict[str, list[str]]


class _File(NamedTuple):
    """A file of the working tree, and what each milestone so far makes of it: its id, its diff and the text after."""

    start: str | None
    steps: tuple[tuple[str, str, str | None], ...] = ()

    @property
    def latest(self) -> str | None:
        """The text as the last milestone so far leaves it."""
        return self.steps[-1][2] if self.steps else self.start

    def with_step(self, name: str, diff: str, after: str | None) -> _File:
        """The file with what a further milestone makes of it."""
        return _File(self.start, (*self.steps, (name, diff, after)))


def collected(plan: Mapping[str, Any], folder: str, root: str) -> dict[str, Any]:
    """The plan with the changes of every milestone that has copies; the others keep theirs.

    Raises PlanError with every fault of the copies.
    """
    faults: list[Fault] = []
    ids = {one["id"] for one in plan["milestones"]}
    there = _milestone_folders(os.path.join(folder, COPIES), ids, faults)
    tree: dict[str, _File] = {}
    made: dict[str, list[dict[str, Any]]] = {}
    for one in in_order(plan["milestones"]):
        if one["id"] not in there:
            _keep(one, tree, root)
            continue
        copies = _read_copies(os.path.join(folder, COPIES, one["id"]), one, faults)
        made[one["id"]] = list(_changes(one, copies, tree, root, faults))
    if faults:
        raise PlanError("nothing was collected", faults)
    return _numbered(plan, made)


def _milestone_folders(changes: str, ids: set[str], faults: list[Fault]) -> set[str]:
    if os.path.islink(changes) or not os.path.isdir(changes):
        raise PlanError(f"there is no folder {changes}; put each new copy under it as <milestone>/<path>")
    found = set()
    for entry in sorted(os.scandir(changes), key=lambda entry: entry.name):
        if entry.name not in ids:
            what = "it is not the id of a milestone of this plan"
            faults.append(Fault(f"{COPIES}/{entry.name}", what, nearest(entry.name, sorted(ids))))
        elif entry.is_symlink() or not entry.is_dir():
            faults.append(Fault(f"{COPIES}/{entry.name}", "it is no real folder"))
        else:
            found.add(entry.name)
    return found


def _read_copies(folder: str, one: Mapping[str, Any], faults: list[Fault]) -> Copies:
    texts: dict[str, str | None] = {}
    head = f"{COPIES}/{one['id']}"
    for path in _files_under(folder):
        if path in RESERVED:
            continue
        texts[path] = None
        try:
            texts[path] = text_of(folder, path)
        except ValueError as error:
            faults.append(Fault(f"{head}/{path}", str(error)))
    comments = _comments(folder, head, faults)
    for path in _removed(folder, head, faults):
        if path in texts:
            faults.append(Fault(f"{head}/{REMOVED}", f"{path} is named as removed, and there is a copy of it"))
        texts[path] = None
    for path in texts:
        why = path_fault(path)
        if why or path not in one["files"]:
            what = why or f"it is not among the files of {one['id']}"
            faults.append(Fault(f"{head}/{path}", what, nearest(path, one["files"])))
    for path in comments:
        if path not in texts:
            what = f"it has comments on {path!r:.120}, of which there is no copy"
            faults.append(Fault(f"{head}/{COMMENTS}", what, nearest(path, texts)))
    return Copies(texts, comments)


def _files_under(folder: str) -> Iterator[str]:
    """Every file and link, relative to the folder and sorted; links are not followed."""
    for at, folders, files in os.walk(folder):
        linked = [name for name in folders if os.path.islink(os.path.join(at, name))]
        folders[:] = sorted(name for name in folders if name not in linked and name != _SKIPPED)
        for name in sorted([*files, *linked]):
            yield os.path.relpath(os.path.join(at, name), folder).replace(os.sep, "/")


def _removed(folder: str, head: str, faults: list[Fault]) -> list[str]:
    try:
        text = text_of(folder, REMOVED) or ""
    except ValueError as error:
        faults.append(Fault(f"{head}/{REMOVED}", str(error)))
        return []
    return list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))


def _comments(folder: str, head: str, faults: list[Fault]) -> dict[str, list[str]]:
    where = f"{head}/{COMMENTS}"
    try:
        text = text_of(folder, COMMENTS)
        found = {} if text is None else parse(text.encode(), where)
    except (ValueError, PlanError) as error:
        faults.append(Fault(where, str(error)))
        return {}
    if not isinstance(found, dict) or not all(
        isinstance(entry, list) and all(isinstance(line, str) and line.strip() for line in entry)
        for entry in found.values()
    ):
        faults.append(Fault(where, "it is not an object of lists of texts", '{"src/app.py": ["retry(): why so"]}'))
        return {}
    return found


def _changes(
    one: Mapping[str, Any], copies: Copies, tree: dict[str, _File], root: str, faults: list[Fault]
) -> Iterator[dict[str, Any]]:
    kept = {change["file"]: change for change in one["changes"]}
    for path, copy in sorted(copies.texts.items()):
        where = f"{COPIES}/{one['id']}/{path}"
        if any(fault.at == where for fault in faults):
            continue
        try:
            file = tree[path] if path in tree else _File(text_of(root, path))
            after = _together(path, file, copy)
        except ValueError as error:
            faults.append(Fault(where, str(error)))
            continue
        known = kept.get(path, {"diff": "", "comments": []})
        diff = _kept_diff(known["diff"], file.latest, after) or diffs.diff_of(path, file.latest, after)
        tree[path] = file.with_step(one["id"], diff, after) if diff else file
        if diff:
            ends = _ends(known, file.latest, after)
            yield {"file": path, "diff": diff, **ends, "comments": copies.comments.get(path, known["comments"])}


def _ends(known: Mapping[str, Any], before: str | None, after: str | None) -> dict[str, str]:
    """The digests of a file before and after a change; that before it as the plan has it, if the tree is past it."""
    old = known.get("before") if before == after else digest(before)
    return {"before": old, "after": digest(after)} if old else {}


def _kept_diff(diff: str, before: str | None, after: str | None) -> str:
    """The diff that the plan has, if it leads to the copy: also where the tree holds the change, or a part, already."""
    try:
        return diff if diff and diffs.apply(diff, before) == after else ""
    except ValueError:
        return ""


def _together(path: str, file: _File, copy: str | None) -> str | None:
    """The text that a copy leads to on top of what earlier milestones do; ValueError where it does not fit on that."""
    if copy is None:
        if file.latest is None:
            raise ValueError("it is named as removed, and is not there")
        return None
    begun, base = 0, file.start
    for _, diff, after in file.steps:
        if diffs.undone(diff, copy):
            break
        begun, base = begun + 1, after
    if begun == len(file.steps):
        return copy
    name = file.steps[begun][0]
    try:
        return diffs.apply(diffs.diff_of(path, base, copy), file.latest) if base != copy else file.latest
    except ValueError as error:
        what = f"it was begun without what {name} does to the file, and does not fit on top of that: {error}"
        raise ValueError(f"{what}; begin with {COPIES}/{name}/{path}, or have one milestone do both") from None


def _keep(one: Mapping[str, Any], tree: dict[str, _File], root: str) -> None:
    """Take the changes that a milestone without copies has already as done."""
    for change in one["changes"]:
        path = change["file"]
        try:
            file = tree[path] if path in tree else _File(text_of(root, path))
            after = diffs.apply(change["diff"], file.latest)
        except ValueError:
            continue  # that it does not fit is told when the plan is checked as coded
        tree[path] = file.with_step(one["id"], change["diff"], after)


def _numbered(plan: Mapping[str, Any], made: Mapping[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """The plan with the new changes; a change of the same file of the same milestone keeps its id."""
    known = {(one["id"], change["file"]): change["id"] for one in plan["milestones"] for change in one["changes"]}
    last = max([int(name.partition("-")[2]) for name in known.values()], default=0)
    new: dict[str, Any] = json.loads(json.dumps(plan))
    for one in new["milestones"]:
        if one["id"] not in made:
            continue
        one["changes"] = []
        for change in made[one["id"]]:
            name = known.get((one["id"], change["file"]))
            if name is None:
                last += 1
                name = f"CH-{last:03}"
            one["changes"].append({"id": name, **change})
    return new
