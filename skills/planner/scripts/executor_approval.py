"""Checks that a finished run of planner approved the plan in a folder as it is, or that a reason stands in for that.

Called in the project's root as ``PLAN_DIR REASON``, the reason empty where there is none. A run of planner ends in one
way alone, through the gate of its last review, so a finished one has approved the plan of its folder: with the content
that the check of its last round saw, which the ledger keeps.
"""

from __future__ import annotations

import os
import re
import sys
from typing import NamedTuple

root = os.path.realpath(__file__)
for _ in range(4):
    root = os.path.dirname(root)
if root not in sys.path:
    sys.path.insert(0, root)


from plandata.command import plan_in  # type: ignore[import-not-found]
from plandata.faults import PlanError  # type: ignore[import-not-found]
from plandata.form import content_id  # type: ignore[import-not-found]

from skills.lib.errors import LedgerError
from skills.lib.ledger import Ledger
from skills.lib.paths import home

# What plan_data.py check printed before the last review.
_CHECKED = re.compile(r"(?P<version>plan\.\d+\.json) is at stage documented: .*, content (?P<content>[0-9a-f]{16})")


class Approval(NamedTuple):
    """A finished run of planner, and the version and content that it approved; empty where its record has none."""

    run: str
    version: str = ""
    content: str = ""


def approvals(folder: str, project: str) -> list[Approval]:
    """What finished runs of planner, in this project's ledger, approved of the plan that is kept in that folder."""
    wanted = os.path.realpath(os.path.join(project, folder))
    ledger = Ledger(home(project), create=False)
    try:
        found = []
        for run in ledger.every_run("workflow='planner' AND parent IS NULL AND status='done'"):
            plan = run.params.get("plan")
            if isinstance(plan, str) and os.path.realpath(os.path.join(run.project, plan)) == wanted:
                found.append(_approval(ledger, run.id))
        return found
    finally:
        ledger.close()


def _approval(ledger: Ledger, run: str) -> Approval:
    left = [event for event in ledger.events(run) if event.detail.get("from") == "document"]
    for proof in left[-1].detail.get("evidence", ()) if left else ():
        match = _CHECKED.search(str(proof.get("output", "")))
        if match:
            return Approval(run, match["version"], match["content"])
    return Approval(run)


def main(arguments: list[str]) -> int:
    """Say who approved the plan; 0 if somebody did, or if there is a reason to go without."""
    if len(arguments) != 2:
        print("usage: executor_approval.py PLAN_DIR REASON")
        return 2
    folder, reason = arguments
    try:
        number, plan = plan_in(folder)
        found = approvals(folder, os.getcwd())
    except PlanError as error:
        print(f"the plan cannot be read: {error.what}")
        return 1
    except LedgerError as error:
        found = []
        if not reason.strip():
            print("\n".join(error.lines()))
    same = [one for one in found if one.content == content_id(plan)]
    if same:
        print(f"approved by run {same[-1].run} of planner")
        return 0
    if reason.strip():
        print(f"approved by no run of planner; carried out all the same: {reason.strip()}")
        return 0
    if found:
        print(_changed(folder, found[-1], number))
        return 1
    print(
        f"no finished run of planner in this project approved the plan in {folder}; finish that run, or begin this one"
    )
    print('anew with --unapproved "REASON", which is kept with the run')
    return 1


def _changed(folder: str, last: Approval, number: int) -> str:
    what = (
        f"the plan in {folder} was changed since run {last.run} of planner approved it: plan.{number}.json is not what"
    )
    back = f"plan_data.py save {folder} {folder}/{last.version} takes that one back; or " if last.version else ""
    return (
        f"{what} was approved ({last.version or 'nothing is on record'})\n{back}begin this run anew with --unapproved"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
