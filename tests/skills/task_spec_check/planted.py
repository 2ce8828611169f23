"""The planted tasks, and the scripted agent that takes them through the printed commands."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tests.skills.follower import Block, Follower

HERE = Path(__file__).parent
SCRIPT = "task-spec-check/scripts/task_spec_check.py"
DATA: dict[str, Any] = yaml.safe_load((HERE / "cases.yaml").read_text(encoding="utf-8"))
CASES: dict[str, dict[str, Any]] = DATA["cases"]
DEFAULT = {"C1": ["test"], "C2": ["readme"]}
GIT = {
    **{f"GIT_{who}_{what}": "spec@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    "GIT_CONFIG_GLOBAL": os.devnull,
}


class Ended(NamedTuple):
    """How a run ended: its last block, what it refused, and the files that were written."""

    block: Block
    refused: list[str]
    project: Path

    def written(self, name: str, task: str = "T1") -> Any:
        """A JSON file that was written for the task; None if there is none."""
        file = self.project / ".lockstep-task" / task / name
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def run(project: Path, *argv: str) -> str:
    """Run a command of a case in its project."""
    done = subprocess.run(argv, cwd=project, env={**os.environ, **GIT}, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (argv, done.stderr)
    return done.stdout.strip()


@cache
def _template(folder: Path) -> Path:
    project = folder / "template"
    write(project, DATA["project"])
    for argv in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "base"]):
        run(project, "git", *argv)
    return project


def write(project: Path, files: dict[str, str | None]) -> None:
    """Write files, and delete those without content."""
    for path, content in files.items():
        file = project / path
        if content is None:
            file.unlink()
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")


def planted(case: dict[str, Any], folder: Path, name: str = "project") -> Path:
    """The project of a case, with what was done in it since the base."""
    project = folder / name
    shutil.copytree(_template(folder), project, symlinks=True)
    (folder / "outside.md").write_text("A discount of 10 percent\n", encoding="utf-8")
    for argv in case.get("setup", ()):
        run(project, *argv)
    change = case.get("change", DATA["good"])
    write(project, {**change.get("files", {}), **case.get("files", {})})
    for argv in (*change.get("do", ()), *case.get("do", ())):
        run(project, *argv)
    task = {
        "id": "T1",
        "title": "The planted task",
        "status": "in_progress",
        "acceptanceCriteria": case.get("criteria", DATA["task"]["criteria"]),
        "filesAllowed": case.get("allowed", DATA["task"]["allowed"]),
        **({"base": case["base"]} if "base" in case else {}),
    }
    state(project, [task, {"id": "T2", "acceptanceCriteria": ["It is there"], "filesAllowed": []}])
    return project


def state(project: Path, tasks: list[dict[str, Any]], current: str = "T1", folder: str = ".lockstep-task") -> None:
    """Write the state of an issue."""
    issue = {"status": {"currentTaskId": current}}
    write(project, {f"{folder}/issue.json": json.dumps(issue), f"{folder}/tasks.json": json.dumps({"tasks": tasks})})


def evidence(case: dict[str, Any], given: dict[str, Any], turn: int) -> list[str]:
    """What the agent reports, written out; it may not report the same twice, word for word."""
    found = []
    for name, rows in given.items():
        confidence = case.get("confidence", "high")
        if isinstance(rows, str):
            verdict, _, finding = rows.partition(": ")
            found.append(f"{name} {verdict} {confidence} | {finding}")
            continue
        head = f"{name} PASS {confidence}"
        found.append(f"{head} | looked at in turn {turn}")
        found += [f"{head} | {as_row(DATA['rows'][one] if isinstance(one, str) else one)}" for one in rows]
    return found


def as_row(part: dict[str, Any]) -> str:
    """One piece of evidence as a part of a row."""
    said = [part["type"], part.get("location"), shlex.join(part.get("command", [])), part.get("quote")]
    return " | ".join(filter(None, [*said, part.get("expect")]))


def walk(case: dict[str, Any], folder: Path) -> Ended:
    """Take a case to its end: each attempt in turn, the last one again, and INCONCLUSIVE once that is refused."""
    project = planted(case, folder)
    agent = Follower(SCRIPT, project)
    begun = ["--base", run(project, "git", "rev-parse", case["given_base"])] if "given_base" in case else []
    block = agent.begin(*begun)
    criteria = [f"C{at}" for at in range(1, len(case.get("criteria", DATA["task"]["criteria"])) + 1)]
    given = {name: rows for name, rows in DEFAULT.items() if name in criteria}
    attempts = list(case.get("attempts", [case.get("evidence", given)]))
    refused: list[str] = []
    while block.at == "prove":
        attempt = attempts.pop(0) if len(attempts) > 1 else attempts[0]
        after = agent.follow(block, {"evidence": evidence(case, attempt, block.turn)})
        if after.kind == "refused":
            assert after.code == "missing-evidence", after.text
            refused.append(after.why)
            if "stuck" in case and case["stuck"] in after.why:
                return Ended(after, refused, project)
            if attempts[0] is attempt:
                left = {name: attempt.get(name) for name in criteria}
                gone = [name for name in criteria if f"{name}:" in after.why or f"criterion {name} " in after.why]
                attempts = [{name: "INCONCLUSIVE: no such place" if name in gone else left[name] for name in criteria}]
        else:
            block = after
        for argv in case.get("between", ()):
            run(project, *argv)
    assert block.kind == "done", block.text
    return Ended(block, refused, project)
