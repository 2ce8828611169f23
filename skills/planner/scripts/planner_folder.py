"""Checks that git does not ignore the folder that a plan is kept in.

Called in the project's root as ``PLAN_DIR``. An ignored plan is in no commit, and ``git clean -xdf`` deletes it. Prints
the fault with a folder to use, and ends with 1 if there is one; without a git checkout there is none.
"""

from __future__ import annotations

import os
import re
import sys

root = os.path.realpath(__file__)
for _ in range(4):
    root = os.path.dirname(root)
if root not in sys.path:
    sys.path.insert(0, root)

from skills.lib.git import Git, GitProblem

# Where a plan is kept, the first that git does not ignore.
FOLDERS = ("plans", "docs/plans", "planning")


def ignored_by(project: str, folder: str) -> str:
    """The place and the pattern by which git ignores a plan in that folder; empty if it does not."""
    git = Git(project, ["--no-literal-pathspecs"])  # check-ignore refuses literal ones
    printed = os.fsdecode(git.output("check-ignore", "-v", "--", f"./{folder}/plan.1.json") or b"")
    why = printed.rpartition("\t")[0]
    return "" if re.match(r".*?:\d+:!", why) else why


def main(arguments: list[str]) -> int:
    """Say what ignores the folder; 0 if nothing does."""
    if len(arguments) != 1:
        print("usage: planner_folder.py PLAN_DIR")
        return 2
    folder, project = os.path.normpath(arguments[0]), os.getcwd()
    name = os.path.basename(folder)
    try:
        why = ignored_by(project, folder)
        seen = next((path for path in FOLDERS if not why or not ignored_by(project, f"{path}/{name}")), "")
    except GitProblem as error:
        print(error.message())
        return 1
    if not why:
        return 0
    other = f"--plan {seen}/{name}" if seen else "a folder that git does not ignore"
    print(f"git ignores {folder}, by {why}: the plan would be in no commit, and git clean -xdf would delete it.")
    print(f"Begin anew with {other}; or change that pattern, and go on.")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
