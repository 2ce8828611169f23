"""The working tree beside a plan, byte by byte: what is to be done, what is there, and what differs from the plan."""

from __future__ import annotations

import hashlib
import os
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from . import diffs
from .stages import text_of
from .waves import in_order

if TYPE_CHECKING:
    from collections.abc import Mapping

ABSENT = "absent"
TODO, THERE, MOVED = "to do", "there", "moved"


def digest(text: str | None) -> str:
    """16 hex digits that another text does not have; ABSENT for a file that is not there."""
    return ABSENT if text is None else hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def states(plan: Mapping[str, Any], root: str) -> dict[str, str]:
    """Whether each milestone is to do, there, or moved: one of its files is as neither the plan nor its base has it."""
    at = {path: _place(points, root, path) for path, points in _points(plan).items()}
    found = {}
    for one in in_order(plan["milestones"]):
        given = [at[change["file"]].get(change["id"], MOVED) for change in one["changes"]] or [MOVED]
        found[one["id"]] = MOVED if MOVED in given else TODO if TODO in given else THERE
    return found


def results(plan: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Each file that the plan changes, with the digest that it ends with (empty if unknown) and the last milestone."""
    found = {}
    for one in in_order(plan["milestones"]):
        for change in one["changes"]:
            found[change["file"]] = ((_ends(change) or ("", ""))[1], one["id"])
    return found


def differing(plan: Mapping[str, Any], root: str) -> list[str]:
    """Each file that is not as the plan leaves it, as "path | milestone | digest of what is there"."""
    found = []
    for path, (wanted, name) in sorted(results(plan).items()):
        there = digest_in(root, path)
        if there != wanted:
            found.append(f"{path} | {name} | {there}")
    return found


def digest_in(root: str, path: str) -> str:
    """The digest of a file of the tree; "unreadable" for what is no text."""
    try:
        return digest(text_of(root, path))
    except ValueError:
        return "unreadable"


def approved_text(plan: Mapping[str, Any], path: str, copies: str) -> str | None:
    """A file as the plan leaves it, from its diff or from the copy that this was made of; ValueError if neither has it.

    ``copies`` is the folder of all copies.
    """
    for one in reversed(in_order(plan["milestones"])):
        for change in one["changes"]:
            if change["file"] == path:
                wanted = (_ends(change) or ("", ""))[1]
                if wanted == ABSENT:
                    return None
                if diffs.read(change["diff"]).creates:
                    return diffs.apply(change["diff"], None)
                text = text_of(os.path.join(copies, one["id"]), path)
                if digest(text) == wanted:
                    return text
    raise ValueError(f"no text of {path} is kept with the plan; its diff is in plan.md")


def _ends(change: Mapping[str, Any]) -> tuple[str, str] | None:
    """The digests of a file before and after a change; None for a change of a plan that was made without them."""
    made = diffs.read(change["diff"])
    if made.creates:
        return ABSENT, digest(diffs.apply(change["diff"], None))
    if "before" in change and "after" in change:
        return change["before"], change["after"]
    return None


def _points(plan: Mapping[str, Any]) -> dict[str, list[tuple[str, tuple[str, str] | None]]]:
    """The changes of each file in the order in which they are carried out, with their digests."""
    found: dict[str, list[tuple[str, tuple[str, str] | None]]] = {}
    for one in in_order(plan["milestones"]):
        for change in one["changes"]:
            found.setdefault(change["file"], []).append((change["id"], _ends(change)))
    return found


def _place(points: list[tuple[str, tuple[str, str] | None]], root: str, path: str) -> dict[str, str]:
    """Whether each change of a file is to do or there; empty if the file is at none of their ends."""
    ends = [pair for _, pair in points if pair]
    chained = all(one[1] == other[0] for one, other in pairwise(ends))
    known = [ends[0][0], *[pair[1] for pair in ends]] if ends else []
    there = digest_in(root, path)
    if len(ends) < len(points) or not chained or there not in known:
        return {}
    done = len(known) - 1 - known[::-1].index(there)
    return {name: THERE if number < done else TODO for number, (name, _) in enumerate(points)}
