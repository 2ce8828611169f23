"""The stages of a plan: draft, coded (its changes are there and fit), documented (their reasons are there too)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import diffs
from .faults import Fault
from .form import form_faults, pointer
from .places import read_under
from .references import draft_faults, reference_faults
from .waves import in_order

if TYPE_CHECKING:
    from collections.abc import Iterator

STAGES = ("draft", "coded", "documented")
FILE_LIMIT = 2_000_000


def faults_at(plan: Any, stage: str, root: str) -> list[Fault]:
    """Everything that keeps a plan from being at a stage, in one pass; its changes are held against the tree."""
    found = form_faults(plan) + reference_faults(plan) + draft_faults(plan)
    if found or stage == "draft":
        return found
    found += list(_missing_changes(plan, stage))
    if stage == "documented":
        found += list(_missing_reasons(plan))
    return found + list(unfit_changes(plan, root))


def text_of(root: str, path: str) -> str | None:
    """The text of a file of the project, or None where there is none; ValueError for what is no text."""
    content = read_under(root, path, FILE_LIMIT)
    if content is None:
        return None
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 text (byte {error.start}); a plan changes texts alone") from None
    if "\0" in text:
        raise ValueError("it has a zero byte; a plan changes texts alone")
    return text


def unworkable_files(plan: dict[str, Any], root: str) -> Iterator[Fault]:
    """Files of the milestones that are there and that no plan can change: links, folders, what is no text."""
    for number, one in enumerate(plan["milestones"]):
        for at, path in enumerate(one["files"]):
            try:
                text_of(root, path)
            except ValueError as error:
                yield Fault(pointer("milestones", number, "files", at), f"{path} cannot be changed by a plan: {error}")


def unfit_changes(plan: dict[str, Any], root: str) -> Iterator[Fault]:
    """Changes that fit neither before nor after on the tree, milestone after milestone as they are carried out."""
    at = {one["id"]: number for number, one in enumerate(plan["milestones"])}
    tree: dict[str, str | None] = {}
    for one in in_order(plan["milestones"]):
        for number, change in enumerate(one["changes"]):
            where = pointer("milestones", at[one["id"]], "changes", number, "diff")
            path = change["file"]
            try:
                named = diffs.read(change["diff"]).path
                if named != path:
                    raise ValueError(f"it is a diff of {named!r:.120}")
                before = tree[path] if path in tree else text_of(root, path)
                tree[path] = diffs.apply(change["diff"], before)
                if tree[path] is not None:
                    _check_above(path, tree, root)
            except ValueError as error:
                what = f"{change['id']} ({one['id']}) does not fit {path}: {error}"
                yield Fault(where, what, f"a new copy of it under .changes/{one['id']}/, then collect")


def _check_above(path: str, tree: dict[str, str | None], root: str) -> None:
    """Raise ValueError where a file stands in place of a folder that the path leads through."""
    parts = path.split("/")
    for above in ("/".join(parts[:at]) for at in range(1, len(parts))):
        there = tree[above] is not None if above in tree else os.path.isfile(os.path.join(root, above))
        if there:
            raise ValueError(f"{above} is a file, and no folder to put it in")


def _missing_changes(plan: dict[str, Any], stage: str) -> Iterator[Fault]:
    for number, one in enumerate(plan["milestones"]):
        if one["kind"] == "code":
            wanted = [intent["file"] for intent in one["intent"]]
        else:
            wanted = one["files"] if stage == "documented" else []
        has = {change["file"] for change in one["changes"]}
        for path in dict.fromkeys(wanted):
            if path not in has:
                what = f"{one['id']} has no change of {path}"
                valid = f"a copy of it as it will be at .changes/{one['id']}/{path}, then collect"
                yield Fault(pointer("milestones", number, "changes"), what, valid)


def _missing_reasons(plan: dict[str, Any]) -> Iterator[Fault]:
    for number, one in enumerate(plan["milestones"]):
        cited = {intent["file"]: intent["decisions"] for intent in one["intent"] if intent["decisions"]}
        for at, change in enumerate(one["changes"]):
            if change["file"] in cited and not change["comments"]:
                names = ", ".join(cited[change["file"]])
                what = f"{change['id']} rests on {names}, and no comment says the reason"
                valid = f"an entry for {change['file']} in .changes/{one['id']}/COMMENTS.json, then collect"
                yield Fault(pointer("milestones", number, "changes", at, "comments"), what, valid)
