"""What the scripted agent reports for task-spec-check: a task with one criterion, proved, not proved, and failed."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

from skills.lib.testing.samples import any_of

if TYPE_CHECKING:
    from pathlib import Path

TASK = {"id": "T1", "acceptanceCriteria": ["README.md names the discount of 10 percent"], "filesAllowed": ["README.md"]}
FILES: dict[str, str] = {
    ".lockstep-task/issue.json": json.dumps({"status": {"currentTaskId": "T1"}}),
    ".lockstep-task/tasks.json": json.dumps({"tasks": [TASK]}),
}
COMMIT = ("-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "base")


def prepare(project: Path) -> None:
    """A checkout whose README.md was changed since its one commit."""
    for path, content in {**FILES, "README.md": "# Cart\n\nA discount of 10 percent.\n"}.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(content, encoding="utf-8")
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    for words in (["init", "-q"], COMMIT):
        subprocess.run(["git", *words], cwd=project, env=environment, check=True, timeout=60)


def evidence(verdict: str, confidence: str, line: int, quote: str, finding: str = "") -> list[str]:
    """A report on the one criterion."""
    head = f"C1 {verdict} {confidence}"
    return [f"{head} | code | README.md:{line} | {quote}", *([f"{head} | {finding}"] if finding else [])]


VALUES: dict[str, Any] = {
    "load.issue": None,
    "load.tasks": None,
    "prove.evidence": any_of(
        evidence("PASS", "high", 3, "A discount of 10 percent."),
        evidence("PASS", "high", 1, "Cart"),
        evidence("PASS", "medium", 1, "Cart"),
        evidence("PASS", "low", 1, "Cart"),
        evidence("FAIL", "high", 1, "Cart", "README.md:1 names no discount"),
    ),
    "answers": None,
}
PREPARE = {"task_spec_check": prepare}
