"""What an executed plan finds in the project, and what it leaves there: the tree held against what was approved.

Called in the project's root, it prints JSON and ends with 1 if the plan cannot be read:

    apply PLAN_DIR APPROVED BEGUN  put in what was approved, run the plan's commands: {"moved", "red", "outside"}
    differs PLAN_DIR OUTSIDE       each file that is not as approved: ["path | milestone | digest"]

``show PLAN_DIR`` prints the differences for people. APPROVED is what executor_approval.py printed. BEGUN is how the
rest of the project was as the run began, and OUTSIDE how it was after apply, but for what was changed before.
"""

from __future__ import annotations

import difflib
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import executor_approval  # type: ignore[import-not-found]
from plandata import checks, tree  # type: ignore[import-not-found]
from plandata.apply import apply  # type: ignore[import-not-found]
from plandata.command import plan_in  # type: ignore[import-not-found]
from plandata.faults import PlanError  # type: ignore[import-not-found]
from plandata.outside import REST, outside, since  # type: ignore[import-not-found]
from plandata.places import COPIES, plan_folder  # type: ignore[import-not-found]
from plandata.stages import text_of  # type: ignore[import-not-found]
from plandata.waves import in_order  # type: ignore[import-not-found]

if TYPE_CHECKING:
    from collections.abc import Mapping

# How much is told of what is red.
MOST_RED = 2_000


def applied(folder: str, root: str, approved: str, begun: Mapping[str, Any]) -> dict[str, Any]:
    """Put each milestone in whose files are as its plan was made for, then run the plan's commands.

    What was changed outside of the plan since the run had ``begun``, and not committed, counts as changed later, too.
    Raises PlanError, and changes nothing, if the plan is not the one that was approved.
    """
    number, plan = plan_in(folder)
    changed = executor_approval.change_since(folder, number, plan, approved)
    if changed:
        raise PlanError(changed)
    before = outside(plan, folder, root)
    left = []
    for one in in_order(plan["milestones"]):
        state = tree.states(plan, root)[one["id"]]
        try:
            if state == tree.TODO:
                apply(one, root)
        except PlanError:
            state = tree.MOVED
        if state == tree.MOVED:
            left.append(one["id"])
    done = [checks.run(kind, argv, checks.SECONDS) for kind, argv in checks.commands_of(plan)]
    failed = [one for one in done if one.why]
    red = " ".join(" ".join([*checks.tails_of(failed), *checks.lines_of(done)]).split()) if failed else ""
    return {
        "moved": left,
        "red": red[:MOST_RED],
        "outside": since(root, begun, before, outside(plan, folder, root)),
    }


def differing(folder: str, root: str, before: Mapping[str, Any]) -> list[str]:
    """Each file of the plan that is not as approved, and each other file that was changed since ``before``."""
    plan = plan_in(folder)[1]
    found: list[str] = tree.differing(plan, root)
    if before:
        now = outside(plan, folder, root, before["commit"]).get("files", {})
        was = before["files"]
        found += [f"{path} | outside | {now[path]}" for path in now if now[path] != was.get(path)]
        # A file that is again as in the commit was changed, too.
        found += [f"{path} | outside | as committed" for path in was if path not in now and REST not in (*now, *was)]
    return found


def shown(folder: str, root: str) -> str:
    """The differences from what was approved to what is there, file by file."""
    plan = plan_in(folder)[1]
    copies = os.path.join(plan_folder(folder, root), COPIES)
    lines = []
    for entry in tree.differing(plan, root):
        path = entry.partition(" | ")[0]
        try:
            approved, there = tree.approved_text(plan, path, copies) or "", text_of(root, path) or ""
        except ValueError as error:
            lines.append(f"{path}: {error}")
            continue
        sides = approved.splitlines(), there.splitlines()
        lines += difflib.unified_diff(*sides, f"approved/{path}", path, lineterm="")
    return "\n".join(lines) or "every file of the plan is as approved"


def main(arguments: list[str]) -> int:
    """Carry out one of the three; 0 if the plan could be read."""
    root = os.getcwd()
    try:
        if arguments[:1] == ["apply"] and len(arguments) == 4:
            begun = json.loads(arguments[3]) if arguments[3].startswith('{"') else {}
            print(json.dumps(applied(arguments[1], root, arguments[2], begun), ensure_ascii=False))
        elif arguments[:1] == ["differs"] and len(arguments) == 3:
            before = json.loads(arguments[2]) if arguments[2] else {}
            print(json.dumps(differing(arguments[1], root, before), ensure_ascii=False))
        elif arguments[:1] == ["show"] and len(arguments) == 2:
            print(shown(arguments[1], root))
        else:
            print("usage: executor_tree.py apply PLAN_DIR APPROVED | differs PLAN_DIR OUTSIDE | show PLAN_DIR")
            return 2
    except PlanError as error:
        print("\n".join([f"nothing was done: {error.what}", *map(str, error.faults)]))
        return 1
    return 0


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(main(sys.argv[1:]))
