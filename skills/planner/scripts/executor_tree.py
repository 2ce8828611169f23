"""What an executed plan finds in the project, and what it leaves there: the tree held against what was approved.

Called in the project's root, it prints JSON and ends with 1 if the plan cannot be read:

    apply PLAN_DIR APPROVED     put in what was approved, run the plan's commands: {"moved", "red", "outside"}
    differs PLAN_DIR OUTSIDE    each file that is not as approved: ["path | milestone | digest"]

``show PLAN_DIR`` prints the differences for people. APPROVED is what executor_approval.py printed, OUTSIDE what apply
printed of the rest of the project.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import executor_approval  # type: ignore[import-not-found]
from plandata import checks, tree  # type: ignore[import-not-found]
from plandata.apply import apply  # type: ignore[import-not-found]
from plandata.command import plan_in  # type: ignore[import-not-found]
from plandata.faults import PlanError  # type: ignore[import-not-found]
from plandata.places import COPIES, kept_in, plan_folder, read_under  # type: ignore[import-not-found]
from plandata.stages import FILE_LIMIT, text_of  # type: ignore[import-not-found]
from plandata.waves import in_order  # type: ignore[import-not-found]

from skills.lib.git import Git, GitProblem

if TYPE_CHECKING:
    from collections.abc import Mapping

# How much is told of what is red, and of how many files outside of the plan each is kept by name.
MOST_RED, MOST_FILES = 2_000, 500
REST = "other files"
_MADE = ("__pycache__/", ".pyc")


def applied(folder: str, root: str, approved: str) -> dict[str, Any]:
    """Put each milestone in whose files are as its plan was made for, then run the plan's commands.

    Raises PlanError, and changes nothing, if the plan is not the one that was approved.
    """
    number, plan = plan_in(folder)
    changed = executor_approval.change_since(folder, number, plan, approved)
    if changed:
        raise PlanError(changed)
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
        "outside": outside(plan, folder, root),
    }


def outside(plan: Mapping[str, Any], folder: str, root: str, commit: str = "") -> dict[str, Any]:
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
    if len(found) > MOST_FILES:
        found = {REST: hashlib.sha256(json.dumps(found).encode()).hexdigest()[:16]}
    return {"commit": commit, "files": found}


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


def _digest(root: str, path: str) -> str:
    try:
        content = read_under(root, path, FILE_LIMIT)
    except ValueError:
        return "unreadable"
    return tree.ABSENT if content is None else hashlib.sha256(content).hexdigest()[:16]


def main(arguments: list[str]) -> int:
    """Carry out one of the three; 0 if the plan could be read."""
    root = os.getcwd()
    try:
        if arguments[:1] == ["apply"] and len(arguments) == 3:
            print(json.dumps(applied(arguments[1], root, arguments[2]), ensure_ascii=False))
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
