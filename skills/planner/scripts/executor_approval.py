"""Prints which plan is carried out, and who approved it, as a JSON text; ends with 1 if nobody did.

Called in the project's root as ``PLAN_DIR REASON [APPROVED]``: the reason to go without an approval, empty if there is
none, and later in a run what this printed at its beginning: it then ends with 1 if the plan was changed since.

A finished run of planner has passed the gate of its last review, so it approved the plan with the content that the
check before that review saw. It counts if its definition, which the ledger keeps, asks for what the planner beside this
script asks for: a workflow that is only called planner approves nothing.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any, NamedTuple

root = os.path.realpath(__file__)
for _ in range(4):
    root = os.path.dirname(root)
if root not in sys.path:
    sys.path.insert(0, root)


from plandata.command import plan_in  # type: ignore[import-not-found]
from plandata.faults import PlanError  # type: ignore[import-not-found]
from plandata.form import content_id  # type: ignore[import-not-found]
from plandata.store import load  # type: ignore[import-not-found]

from skills.lib.errors import LedgerError, LockstepError
from skills.lib.ledger import Ledger
from skills.lib.paths import home, scripts
from skills.lib.runtime.loading import workflow_of_script

PLANNER = os.path.join(scripts(__file__), "planner.py")
# The steps whose check sees what the last review of a way approves: of the full way, and of the quick one.
_LAST_CHECKED = ("document", "quick-write")
# What plan_data.py check printed before the last review.
_CHECKED = re.compile(r"(?P<version>plan\.\d+\.json) is at stage documented: .*, content (?P<content>[0-9a-f]{16})")
_CONTENT = re.compile(r"plan\.\d+\.json, content [0-9a-f]{16}")
# Texts of a definition, which may be improved without asking for anything else.
_TEXTS = frozenset(
    "title description closing actions repeat when forbidden help allow task context question text needs".split()
)


class Approval(NamedTuple):
    """A finished run of planner, and the version and content that it approved; empty where its record has none."""

    run: str
    version: str = ""
    content: str = ""
    forged: bool = False


def approvals(folder: str, project: str) -> list[Approval]:
    """What finished runs called planner, in this project's ledger, approved of the plan that is kept in that folder."""
    wanted = place(folder, project)
    ledger = Ledger(home(project), create=False)
    try:
        found = []
        genuine = asked(workflow_of_script(PLANNER).to_data())
        for run in ledger.every_run("workflow='planner' AND parent IS NULL AND status='done'"):
            plan = run.params.get("plan")
            if isinstance(plan, str) and place(plan, run.project) == wanted:
                if asked(ledger.definition(run.fingerprint)) == genuine:
                    found.append(_approval(ledger, run.id))
                else:
                    found.append(Approval(run.id, forged=True))
        return found
    finally:
        ledger.close()


def place(folder: str, project: str) -> str:
    """The folder as seen from its project, which may have been moved or copied since."""
    base = os.path.realpath(project)
    return os.path.relpath(os.path.realpath(os.path.join(base, folder)), base)


def asked(definition: Any) -> Any:
    """What a definition asks for: its steps, routes, evidence, reviews and parameters, without its texts."""
    if isinstance(definition, dict):
        return {name: asked(part) for name, part in definition.items() if name not in _TEXTS}
    return [asked(part) for part in definition] if isinstance(definition, list) else definition


def _approval(ledger: Ledger, run: str) -> Approval:
    left = [event for event in ledger.events(run) if event.detail.get("from") in _LAST_CHECKED]
    for proof in left[-1].detail.get("evidence", ()) if left else ():
        match = _CHECKED.search(str(proof.get("output", "")))
        if match:
            return Approval(run, match["version"], match["content"])
    return Approval(run)


def main(arguments: list[str]) -> int:
    """Print the plan's version, its content and who approved it; 0 if somebody did, or if there is a reason."""
    if len(arguments) not in (2, 3):
        print("usage: executor_approval.py PLAN_DIR REASON [APPROVED]")
        return 2
    folder, reason = arguments[0], arguments[1].strip()
    try:
        number, plan = plan_in(folder)
    except PlanError as error:
        print("\n".join([f"the plan cannot be read: {error.what}", *map(str, error.faults)]))
        return 1
    this = f"plan.{number}.json, content {content_id(plan)}"
    if len(arguments) == 3:
        return _held(folder, number, plan, arguments[2])
    try:
        found = approvals(folder, os.getcwd())
    except LedgerError as error:
        found = []
        if not reason:
            print("\n".join(error.lines()))
    except LockstepError as error:
        print(f"the planner beside this script cannot be read: {error.what}")
        return 1
    same = [one for one in found if one.content == content_id(plan)]
    if same or reason:
        print(json.dumps(f"{this}, approved by {f'run {same[-1].run} of planner' if same else 'no run of planner'}"))
        return 0
    approved, forged = [one for one in found if not one.forged], [one for one in found if one.forged]
    print(_missing(folder, approved, forged, number))
    return 1


def _held(folder: str, number: int, plan: dict[str, Any], approved: str) -> int:
    why = change_since(folder, number, plan, approved)
    print(why or json.dumps(f"plan.{number}.json, content {content_id(plan)}, as it was when the run began"))
    return 1 if why else 0


def change_since(folder: str, number: int, plan: dict[str, Any], approved: str) -> str:
    """How the plan differs from what this script printed when a run began, and what to do; empty if it does not."""
    was = _CONTENT.match(approved)
    content = content_id(plan)
    if was and was[0].endswith(f" {content}"):
        return ""
    this = f"plan.{number}.json, content {content}"
    return (
        f"the plan in {folder} was changed since this run began: it is {this}, and was {was[0] if was else approved}\n"
        "bring it back with plan_data.py save, or carry the new one out by a run of its own"
    )


def _missing(folder: str, found: list[Approval], forged: list[Approval], number: int) -> str:
    begin = 'begin this run anew with --unapproved "REASON", which is kept with the run'
    if found:
        last = found[-1]
        what = f"the plan in {folder} was changed since run {last.run} of planner approved it: plan.{number}.json is"
        what += f" not what was approved ({last.version or 'nothing is on record'})"
        kept = _version_of(folder, last)
        back = f"plan_data.py save {folder} {folder}/{kept} takes that one back; or " if kept else ""
        return f"{what}\n{back}{begin}"
    if forged:
        other = (
            f"run {forged[-1].run} is called planner, and its definition is not that of the planner beside this script"
        )
        return f"{other}: it approves nothing\nplan anew by {PLANNER}, or {begin}"
    return f"no finished run of planner in this project approved the plan in {folder}\nfinish that run, or {begin}"


def _version_of(folder: str, approved: Approval) -> str:
    """The file of the version that was approved, if it still has that content; else an empty text."""
    number = re.fullmatch(r"plan\.(\d+)\.json", approved.version)
    try:
        return approved.version if number and content_id(load(folder, int(number[1]))[1]) == approved.content else ""
    except PlanError:
        return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
