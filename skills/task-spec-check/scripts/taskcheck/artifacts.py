"""What is written once a task is judged: evidence, phase report, feedback; and where no tool does, progress and status.

Each file is written whole or not at all, and each carries the task's id if the profile says so.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from skills.lib import checks, files
from skills.lib.errors import UsageError
from skills.lib.paths import within

from .judging import FAIL, PASS
from .task import PASSED, TaskProblem, faults, path_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PHASE = "task_spec_check"
MARKS = {PASS: "x", FAIL: " "}


def status_updates(passed: bool, open_tasks: Sequence[str]) -> dict[str, bool]:
    """What the issue's status is to be."""
    more = bool(open_tasks) or not passed
    return {"taskPassed": passed, "taskFailed": not passed, "hasMoreTasks": more, "allTasksComplete": not more}


def report(verdict: Mapping[str, Any], open_tasks: Sequence[str]) -> dict[str, Any]:
    """The phase report."""
    passed = verdict["outcome"] == PASS
    reasons = [f"{one['id']} {one['verdict']}: {why}" for one in verdict["criteria"] for why in one["findings"]]
    reasons += [f"files {verdict['files']['verdict']}: {why}" for why in verdict["files"]["findings"]]
    shown = [part["location"] for one in verdict["criteria"] for part in one["evidence"] if part["shows"] == "proves"]
    count = len(verdict["criteria"])
    return {
        "schemaVersion": 1,
        "phase": PHASE,
        "outcome": "passed" if passed else "failed",
        "statusUpdates": status_updates(passed, open_tasks),
        "reasons": reasons or [f"{count} of {count} criteria are proved; base {verdict['base']}"],
        "evidenceRefs": list(dict.fromkeys(shown)),
    }


def feedback(task: str, verdict: Mapping[str, Any]) -> str:
    """What the next attempt at a failed task is told."""
    lines = [f"# Task Feedback: {task}", "", "## Failed Criteria", ""]
    for one in verdict["criteria"]:
        if one["verdict"] != PASS:
            lines += [
                f"- {one['id']} {one['verdict']}: {one['text']}",
                *(f"  - {_line(why)}" for why in one["findings"]),
            ]
            ended = [part for part in one["evidence"] if part["shows"] == "refutes" and part.get("output")]
            lines += [row for part in ended for row in ("", "  ```text", *_indented(part["output"]), "  ```", "")]
    lines += ["", "## Files", ""]
    lines += [f"- {verdict['files']['verdict']}: {_line(why)}" for why in verdict["files"]["findings"]] or [
        "- as allowed"
    ]
    lines += ["", "## Base", "", f"Compared with {verdict['base']}.", ""]
    return "\n".join(lines)


def progress(task: str, verdict: Mapping[str, Any]) -> str:
    """The entry in the log of progress."""
    lines = [f"## Spec check of {task} at {verdict['judgedAt']}: {verdict['outcome']}", ""]
    lines += [f"- [{MARKS.get(one['verdict'], ' ')}] {one['id']} {one['verdict']} ({one['confidence']}): {one['text']}"
              for one in verdict["criteria"]]  # fmt: skip
    lines += [
        f"- files: {verdict['files']['verdict']}, {len(verdict['files']['changed'])} changed since {verdict['base']}",
        "",
    ]
    return "\n".join(lines)


def calls(place: Mapping[str, Any], task: str, verdict: Mapping[str, Any], open_tasks: Sequence[str]) -> list[str]:
    """The calls of the state's tools that make the verdict known, each with its arguments; none if files keep it."""
    if "tools" not in place:
        return []
    passed = verdict["outcome"] == PASS
    tools = place["tools"]
    following = open_tasks[0] if passed and open_tasks else task
    updates = {"currentTaskId": following, **status_updates(passed, open_tasks)}
    return [
        f"{tools['taskStatus']} {json.dumps({'taskId': task, 'status': PASSED if passed else 'failed'})}",
        f"{tools['issueStatus']} {json.dumps(updates)}",
        f"{tools['progress']} {json.dumps({'entry': progress(task, verdict)}, ensure_ascii=False)}",
    ]


def publish(place: Mapping[str, Any], task: str, verdict: Mapping[str, Any], open_tasks: Sequence[str]) -> list[str]:
    """Write everything, and return the paths; the report comes last, for it says that the rest is there."""
    found = report(verdict, open_tasks)
    wrong = [*faults("verdict", verdict, "the verdict"), *faults("phase-report", found, "the report")]
    if wrong:
        raise TaskProblem(*wrong)
    passed = verdict["outcome"] == PASS
    told = feedback(task, verdict)
    contents: list[tuple[str, str | None]] = [
        ("evidence", _json(verdict)),
        ("feedback", None if passed else told),
        ("progress", _appended(place, task, verdict)),
        ("status", _json({"schemaVersion": 1, "task": task, "status": PASSED if passed else "failed"})),
        ("report", _json(found)),
    ]
    paths = [(path_of(place, part, task), text) for part, text in contents if part in place]
    for path, _ in paths:
        _require_inside(path)
    for path, text in paths:
        _write(path, text)
    return [path for path, text in paths if text is not None]


def _appended(place: Mapping[str, Any], task: str, verdict: Mapping[str, Any]) -> str:
    if "progress" not in place:
        return ""
    path = path_of(place, "progress", task)
    before = checks.text(path, "replace") if os.path.exists(path) else "# Progress\n"
    entry = progress(task, verdict)
    # The same command may run again after it was killed.
    return before if before.endswith(entry) else f"{before.rstrip()}\n\n{entry}"


def _require_inside(path: str) -> None:
    try:
        within(".", path)
    except (UsageError, ValueError, OSError):
        raise TaskProblem(f"{path} leads out of the project: a part of it is a link; remove that") from None


def _write(path: str, text: str | None) -> None:
    if text is None:
        if os.path.lexists(path):
            files.remove(path)
    else:
        files.write(path, text.encode("utf-8", "backslashreplace"))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _line(text: str) -> str:
    return " ".join(text.split())


def _indented(output: str) -> list[str]:
    return [f"  {line.replace('```', '` ` `')}" for line in output.splitlines()[-12:]]
