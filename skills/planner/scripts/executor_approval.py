"""Checks that a finished run of planner approved the plan in a folder, or that a reason is given to go without.

Called in the project's root as ``PLAN_DIR REASON``, the reason empty where there is none. A run of planner ends in one
way alone, through the gate of its last review, so a finished one has approved the plan of its folder.
"""

from __future__ import annotations

import os
import sys

root = os.path.realpath(__file__)
for _ in range(4):
    root = os.path.dirname(root)
if root not in sys.path:
    sys.path.insert(0, root)


from skills.lib.errors import LedgerError
from skills.lib.ledger import Ledger
from skills.lib.paths import home


def approvals(folder: str, project: str) -> list[str]:
    """The finished runs of planner, in this project's ledger, whose plan is kept in that folder."""
    ledger = Ledger(home(project), create=False)
    try:
        runs = ledger.every_run("workflow='planner' AND parent IS NULL AND status='done'")
    finally:
        ledger.close()
    wanted = os.path.realpath(os.path.join(project, folder))
    found = []
    for run in runs:
        plan = run.params.get("plan")
        if isinstance(plan, str) and os.path.realpath(os.path.join(run.project, plan)) == wanted:
            found.append(run.id)
    return found


def main(arguments: list[str]) -> int:
    """Say who approved the plan; 0 if somebody did, or if there is a reason to go without."""
    if len(arguments) != 2:
        print("usage: executor_approval.py PLAN_DIR REASON")
        return 2
    folder, reason = arguments
    try:
        found = approvals(folder, os.getcwd())
    except LedgerError as error:
        found = []
        if not reason.strip():
            print("\n".join(error.lines()))
    if found:
        print(f"approved by run {found[-1]} of planner")
        return 0
    if reason.strip():
        print(f"approved by no run of planner; carried out all the same: {reason.strip()}")
        return 0
    print(
        f"no finished run of planner in this project approved the plan in {folder}; finish that run, or begin this one"
    )
    print('anew with --unapproved "REASON", which is kept with the run')
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
