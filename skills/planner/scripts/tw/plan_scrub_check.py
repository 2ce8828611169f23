"""Checks that a technical writer left the code of a milestone's copies as the developer handed it over.

Called in the project's root as ``PLAN_DIR MILESTONE [explained [CHECKED]]``, the milestone as its id or
``id | findings``. With ``explained``, COMMENTS.json has to have each reason that the plan is collected with, and a
milestone of documentation a copy of each of its files. CHECKED is a JSON array, of which each entry begins with a line
of a copy or of a file of the project. What was handed over is what the plan's latest version has as changes. Python is
compared without comments and docstrings, JSON and TOML by their data; files of other kinds are left to the reviewer.
Prints each fault and ends with 1 if there is one.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import tomllib
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from plandata import diffs, places, store  # type: ignore[import-not-found]
from plandata.faults import PlanError  # type: ignore[import-not-found]
from plandata.places import COPIES  # type: ignore[import-not-found]
from plandata.waves import in_order  # type: ignore[import-not-found]
from tw import post_implementation_check  # type: ignore[import-not-found]

import skills.lib.checks as checks

SHOWN = 10
_SCOPES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def faults(plan_folder: str, milestone: str, root: str, explained: bool = False) -> list[str]:
    """Everything that differs from what was handed over, as one sentence each; if asked, the reasons that lack, too."""
    _, plan = store.load(plan_folder)
    one = next((one for one in plan["milestones"] if one["id"] == milestone), None)
    if one is None:
        return [f"the plan has no milestone {milestone!r:.40}"]
    folder = os.path.join(plan_folder, COPIES, milestone)
    found = []
    for path in one["files"]:
        if is_code(path):
            copy = _text(os.path.join(folder, path))
            why = [difference(path, handed, copy) for handed in _handed(plan, one, path, root)]
            if all(why):
                found.append(f"{path}: {why[0]}")
    comments = _text(os.path.join(folder, "COMMENTS.json"))
    found += comment_faults(comments) or (_missing(one, comments) if explained else [])
    return found + (_unwritten(one, folder) if explained else [])


def _handed(plan: Mapping[str, Any], milestone: Mapping[str, Any], path: str, root: str) -> list[str | None]:
    """What may have been handed over of a file: begun from the project's, or from what milestones before make of it.

    Raises ValueError for a change that fits neither.
    """
    start = _text(os.path.join(root, path))
    bases = [start]
    for one in in_order(plan["milestones"]):
        diff = next((change["diff"] for change in one["changes"] if change["file"] == path), "")
        if one["id"] == milestone["id"]:
            break
        bases += _applied(diff, bases[-1])
    if not diff:
        return [None]
    return [text for base in bases for text in _applied(diff, base)] or [diffs.apply(diff, start)]


def _applied(diff: str, text: str | None) -> list[str | None]:
    try:
        return [diffs.apply(diff, text)] if diff else []
    except ValueError:
        return []


def _missing(milestone: Mapping[str, Any], comments: str | None) -> list[str]:
    """Each file whose intents name decisions and which has no entry: the plan could not be collected."""
    told = json.loads(comments) if comments else {}
    changed = {change["file"] for change in milestone["changes"]}
    return [
        f"COMMENTS.json has no entry for {intent['file']}, which rests on {', '.join(intent['decisions'])}"
        for intent in milestone["intent"]
        if intent["decisions"] and intent["file"] in changed and not told.get(intent["file"])
    ]


def _unwritten(milestone: Mapping[str, Any], folder: str) -> list[str]:
    """Each file of a milestone of documentation that has no copy: the plan would have no change of it."""
    if milestone["kind"] != "documentation":
        return []
    gone = {line.strip() for line in (_text(os.path.join(folder, "REMOVED")) or "").splitlines()}
    return [
        f"there is no copy of {path}, which is among the milestone's files"
        for path in milestone["files"]
        if path not in gone and not os.path.isfile(os.path.join(folder, path))
    ]


def place_faults(plan_folder: str, milestone: str, entries: list[str], root: str) -> list[str]:
    """Each entry that does not begin with a line of one of the milestone's copies, or of a file of the project."""
    folder = os.path.join(root, plan_folder, COPIES, milestone)
    found = []
    for entry in entries:
        path = entry.partition("|")[0].strip().strip("`").partition(":")[0]
        why = post_implementation_check.fault(
            entry, folder if places.line_count(places.file_under(folder, path)) is not None else root
        )
        if why:
            found.append(f"{entry[:80]!r}: {why}")
    return found


def is_code(path: str) -> bool:
    """Whether the code of a file can be told apart from its comments here."""
    return path.endswith((".py", ".pyi", ".json", ".toml"))


def difference(path: str, before: str | None, after: str | None) -> str:
    """How the code of a copy differs from what was handed over, or nothing."""
    if before is None or after is None:
        if before == after:
            return ""
        return (
            "its copy is gone; put it back" if after is None else "the developer wrote no copy of it; remove this one"
        )
    try:
        new = _code(path, after)
    except ValueError as error:
        return f"it cannot be parsed any more: {error}"
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    for old_part, (line, new_part) in zip_longest(_code(path, before), new, fillvalue=(0, "")):
        if old_part[1] != new_part:
            where = f"at line {line}" if line else "at its end"
            return f"its code differs {where} from what the developer handed over; only comments and docstrings may"
    return ""


def comment_faults(text: str | None) -> list[str]:
    """What is wrong with COMMENTS.json, where there is one."""
    try:
        found = {} if text is None else json.loads(text)
    except ValueError as error:
        return [f"COMMENTS.json is not JSON: {error}"]
    listed = isinstance(found, dict) and all(isinstance(entry, list) for entry in found.values())
    if not listed or not all(isinstance(line, str) for entry in found.values() for line in entry):
        return ['COMMENTS.json is not an object of lists of texts, such as {"src/send.py": ["send(): why five tries"]}']
    return []


def _code(path: str, text: str) -> list[tuple[int, str]]:
    """The parts of a file that do something, each with its line."""
    if path.endswith(".json"):
        return [(1, json.dumps(json.loads(text), sort_keys=True))]
    if path.endswith(".toml"):
        return [(1, repr(tomllib.loads(text)))]
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, _SCOPES):
            body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
            node.body = body or ([] if isinstance(node, ast.Module) else [ast.Pass()])
    return [(statement.lineno, ast.dump(statement)) for statement in tree.body]


def _text(path: str) -> str | None:
    try:
        return checks.content(path).decode("utf-8")
    except FileNotFoundError:
        return None


def main(arguments: list[str]) -> int:
    """Print the faults of the copies; 0 if there are none."""
    explained = arguments[2:3] == ["explained"]
    if len(arguments) not in ((3, 4) if explained else (2,)):
        print("usage: plan_scrub_check.py PLAN_DIR MILESTONE [explained [CHECKED]]")
        return 2
    name = arguments[1].partition("|")[0].strip()
    try:
        found = faults(arguments[0], name, os.getcwd(), explained)
        if len(arguments) == 4:
            found += place_faults(arguments[0], name, json.loads(arguments[3]), os.getcwd())
    except (OSError, ValueError) as error:
        found = [f"the copies cannot be compared: {error}"]
    except PlanError as error:
        found = [f"the plan cannot be read: {error.what}"]
    for fault in found[:SHOWN]:
        print(fault)
    if len(found) > SHOWN:
        print(f"and {len(found) - SHOWN} more")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
