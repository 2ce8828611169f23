"""Checks that a developer's copies are there: not empty, changed, and free of faults that a parser finds.

Called in the project's root as ``PLAN_DIR MILESTONE``: the milestone as its id or ``id | findings``. Each file that one
of its intents names has a copy, or is named in REMOVED. Prints each fault and ends with 1 if there is one.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import tomllib
from collections.abc import Mapping
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from plandata.command import milestone_of  # type: ignore[import-not-found]
from plandata.faults import PlanError  # type: ignore[import-not-found]
from plandata.places import COPIES, RESERVED  # type: ignore[import-not-found]

import skills.lib.checks as checks

SHOWN = 10


def faults(folder: str, milestone: Mapping[str, Any], root: str) -> list[str]:
    """Every fault of the copies in a milestone's folder, as one sentence each."""
    there, gone = copies(folder), _removed(folder)
    due = {intent["file"] for intent in milestone["intent"]} - gone
    found = []
    for path in sorted(due | there & {*milestone["files"]}):
        why = _fault(os.path.join(folder, path), os.path.join(root, path))
        if why:
            found.append(f"{path}: {why}")
    where = os.path.relpath(folder, root)
    beside = sorted(there - {*milestone["files"]})
    return found + [f"{path} lies under {where} and is not among the milestone's files; remove it" for path in beside]


def copies(folder: str) -> set[str]:
    """The paths of all copies in a milestone's folder, as they are in the project."""
    found = {
        os.path.relpath(os.path.join(at, name), folder).replace(os.sep, "/")
        for at, _, names in os.walk(folder)
        for name in names
        if os.path.basename(at) != "__pycache__"
    }
    return found - {*RESERVED}


def _removed(folder: str) -> set[str]:
    """The paths that REMOVED names."""
    path = os.path.join(folder, RESERVED[0])
    return {line.strip() for line in checks.text(path).splitlines()} if os.path.isfile(path) else set()


def _fault(copy: str, original: str) -> str:
    if not os.path.isfile(copy):
        return "there is no copy of it; write the whole file as it will be"
    content = checks.content(copy)
    if os.path.isfile(original) and checks.content(original) == content:
        return "its copy is the same as the project's file; change it, or remove the copy"
    try:
        return _parse_fault(copy, content.decode())
    except UnicodeDecodeError as error:
        return f"not UTF-8 text: byte {error.start}"


def _parse_fault(name: str, text: str) -> str:
    try:
        if name.endswith((".py", ".pyi")):
            ast.parse(text)
        elif name.endswith(".json"):
            json.loads(text)
        elif name.endswith(".toml"):
            tomllib.loads(text)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except ValueError as error:
        return str(error)
    return ""


def main(arguments: list[str]) -> int:
    """Print the faults of the copies; 0 if there are none."""
    if len(arguments) != 2:
        print("usage: fill_changes_check.py PLAN_DIR MILESTONE")
        return 2
    plan, milestone = arguments
    name = milestone.partition("|")[0].strip()
    try:
        found = faults(os.path.join(plan, COPIES, name), milestone_of(plan, name), os.getcwd())
    except PlanError as error:
        found = [f"the milestone cannot be read: {error.what}"]
    except (OSError, ValueError) as error:
        found = [f"the copies cannot be checked: {error}"]
    for fault in found[:SHOWN]:
        print(fault)
    if len(found) > SHOWN:
        print(f"and {len(found) - SHOWN} more")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
