"""What tests of the doctor have in common: programs that are made up, and what it said of a subject."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from skills.lib.hosts.doctor.examination import CheckedResult, Result


def program(path: Path, script: str) -> None:
    """Put an executable there; one line or more for the shell, or a script with an interpreter of its own."""
    path.write_text(script if script.startswith("#!") else f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def step(project: Path, script: Path, *words: str) -> str:
    """Call a step script in the project, and return what it printed."""
    done = subprocess.run(
        [sys.executable, str(script), *words], cwd=project, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def of(told: list[CheckedResult], subject: str, check: str) -> list[Result]:
    """The results of one check."""
    return [one.result for one in told if (one.subject, one.check) == (subject, check)]


def only(told: list[CheckedResult], subject: str, check: str) -> Result:
    """The one result of a check that is not fine."""
    [result] = [one for one in of(told, subject, check) if one.status != "ok"]
    return result


def wrong(told: list[CheckedResult]) -> list[tuple[str, str, str]]:
    """All that is not fine: subject, check, and what it says."""
    return [(one.subject, one.check, one.result.what) for one in told if one.result.status != "ok"]
