"""Loads a task, judges the work on it, and writes what came of it: the engine runs it in the project's root.

``load PROFILE TASK BASE ISSUE TASKS`` prints the task, what was changed and what of that it may not change; ``judge
PROFILE TASK EVIDENCE BEFORE`` looks up and runs the evidence and prints the verdict; ``publish PROFILE TASK JUDGED
ANSWERS`` writes the files. Each value but PROFILE and BASE is JSON; one that was never recorded is its name in braces.
Prints each complaint and ends with 1 if there is one.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from typing import Any

root = os.path.realpath(__file__)
for _ in range(4):
    root = os.path.dirname(root)
if root not in sys.path:
    sys.path.insert(0, root)

from taskcheck import artifacts, changes, judging, reading, task
from taskcheck.task import TaskProblem

from skills.lib import checks
from skills.lib.errors import LockstepError
from skills.lib.git import Git
from skills.lib.ledger import Ledger
from skills.lib.paths import home

WORKFLOW = "task-spec-check"


def load(profile: str, wanted: str, base: str, issue: str, tasks: str) -> dict[str, Any]:
    """The task, its base, what was changed since, and what of that is outside of filesAllowed."""
    place = task.profile(profile)
    found = task.load(place, wanted, {"issue": task.answer(issue), "tasks": task.answer(tasks)})
    _require_alone(place, profile, found.id)
    since = changes.base_of(os.getcwd(), found.base, base)
    _require_unchanged(place, found, since.commit)
    unseen = [] if profile in task.profiles() else changes.hidden(os.getcwd(), since.commit, place["state"])
    if unseen:
        raise TaskProblem(
            f"the profile {profile}: {unseen[0]} lies in {place['state']}/, whose files are not compared with the "
            "base: name a folder that has the state alone"
        )
    rows = changes.changed(os.getcwd(), since.commit, place["state"])
    return {
        "id": found.id,
        "title": found.title,
        "criteria": [one._asdict() for one in found.criteria],
        "shown": [
            " | ".join([one.id, one.text, *(f"given: {shlex.join(argv)}" for argv in one.verify)])
            for one in found.criteria
        ],
        "allowed": found.allowed,
        "base": str(since),
        "changed": rows,
        "outside": changes.outside(os.getcwd(), rows, found.allowed),
        "open": found.open,
    }


def _require_alone(place: dict[str, Any], profile: str, name: str) -> None:
    """Raise TaskProblem if another open run would write the same files for another task."""
    shared = [place[part] for part in ("report", "feedback") if "{task}" not in place[part]]
    if not shared:
        return
    ledger = Ledger(home(os.getcwd()), create=False)
    try:
        for run in ledger.every_run("workflow=? AND status IN ('open','waiting')", (WORKFLOW,)):
            other = run.state.get("load", {}).get("definition", {}).get("id", name)
            if other != name and task.profile(str(run.params["profile"]))["report"] == place["report"]:
                raise TaskProblem(
                    f"run {run.id} checks task {other} in this project, and both would write {', '.join(shared)}: "
                    f"finish or abandon it first, or use a profile whose paths carry {{task}}: {profile}-parallel"
                )
    finally:
        ledger.close()


def _require_unchanged(place: dict[str, Any], found: task.Task, commit: str) -> None:
    """Raise TaskProblem if the work changed what the task demands or began at, where the repository keeps the tasks."""
    kept = Git(os.getcwd()).output("show", f"{commit}:./{place['tasks']}")
    if kept is None:
        return
    try:
        before = task.chosen({"issue": {}, "tasks": json.loads(kept)}, found.id, f"{place['tasks']} at the base")
    except (TaskProblem, ValueError):
        return  # it had no such task then
    for part in ("criteria", "allowed"):
        if getattr(before, part) != getattr(found, part):
            what = "acceptanceCriteria" if part == "criteria" else "filesAllowed"
            raise TaskProblem(
                f"{place['tasks']}: {what} of {found.id} is not what it was at the base {commit[:12]}; a task is not "
                "changed by its own work: put it back, or have the change committed before the base"
            )
    unseen = changes.between(os.getcwd(), before.base, commit, place["state"]) if before.base else []
    if unseen:
        raise TaskProblem(
            f"{place['tasks']}: base of {found.id} was {before.base[:12]} at the base {commit[:12]}, and changes in "
            f"between, as of {unseen[0]}, would not be seen: put it back, or commit the tasks without it and name that"
        )


def judge(profile: str, loaded: str, evidence: str, before: str) -> dict[str, Any]:
    """The verdict, whether stronger evidence could change it, and what the state's tools are to be told."""
    place, one = task.profile(profile), json.loads(loaded)
    criteria = [task.Criterion(**row) for row in one["criteria"]]
    reports, wrong = reading.reports(json.loads(evidence), criteria)
    wrong = wrong or task.faults("evidence", reports, "evidence")
    wrong = wrong or judging.report_faults(criteria, reports, lambda: changes.files(os.getcwd(), place["state"]))
    commit = one["base"].split()[0]
    known = (task.answer(before) or {}).get("tree", one["changed"])
    now = changes.changed(os.getcwd(), commit, place["state"])
    wrong += _unlike(known, now)
    if wrong:
        raise TaskProblem(*wrong)
    paths = {changes.path_of(row) for row in one["changed"]} if one["allowed"] else None
    judged = judging.judged(criteria, reports, paths)
    files, findings = judging.files_verdict(one["outside"], one["changed"], one["allowed"], one["base"])
    verdict = {
        "schemaVersion": 1,
        "task": one["id"],
        "judgedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "outcome": judging.outcome(judged, files),
        "base": one["base"],
        "criteria": judged,
        "files": {"verdict": files, "changed": one["changed"], "findings": findings},
    }
    found = [" | ".join([f"{row['id']} {row['verdict']}", *row["findings"]]) for row in judged]
    return {
        "outcome": verdict["outcome"],
        "found": [*found, " | ".join([f"files {files}", *findings])],
        "verdict": verdict,
        "again": judging.is_open(judged, reports, files),
        "calls": artifacts.calls(place, one["id"], verdict, one["open"]),
        # A command may have written files of its own, which are no change of the agent's.
        "tree": changes.changed(os.getcwd(), commit, place["state"]),
    }


def _unlike(known: list[str], now: list[str]) -> list[str]:
    """A fault for each file that was changed since it was last looked at."""
    unlike = sorted({changes.path_of(row) for row in {*known} ^ {*now}})
    return [
        f"{path} was changed while it was checked: put it back, or abandon this run and begin anew" for path in unlike
    ]


def publish(profile: str, loaded: str, judged: str, answers: str) -> list[str]:
    """Write what came of the task, once the state's tools were told; the paths."""
    place, one, found = task.profile(profile), json.loads(loaded), json.loads(judged)
    rows = task.answer(answers) or []
    told = [row.partition("|")[0].strip() for row in rows]
    wrong = checks.row_faults(rows, "tool | what it answered")
    wrong += checks.coverage([call.partition(" ")[0] for call in found["calls"]], told, "tool")
    wrong += _unlike(found["tree"], changes.changed(os.getcwd(), one["base"].split()[0], place["state"]))
    if wrong:
        raise TaskProblem(*wrong)
    written: list[str] = artifacts.publish(place, one["id"], found["verdict"], one["open"])
    return written


CALLS = {"load": (load, 5), "judge": (judge, 4), "publish": (publish, 4)}


def main(arguments: list[str]) -> int:
    """Print what the call gives as JSON; 0, or 1 with complaints, or 2 for a call of another form."""
    name, values = (arguments or [""])[0], arguments[1:]
    if name not in CALLS or len(values) != CALLS[name][1]:
        print("usage: check_task.py load PROFILE TASK BASE ISSUE TASKS | judge PROFILE TASK EVIDENCE BEFORE | "
              "publish PROFILE TASK JUDGED ANSWERS")  # fmt: skip
        return 2
    call: Any = CALLS[name][0]
    try:
        print(json.dumps(call(*values), ensure_ascii=False))
    except TaskProblem as problem:
        return checks.report(problem.faults)
    except LockstepError as error:
        return checks.report(error.lines())
    except (OSError, ValueError) as error:
        return checks.report([str(error)])
    return 0


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(main(sys.argv[1:]))
