"""The demo: a real question, walked by the printed commands to its end."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from skills.lib.ledger import Ledger

pytestmark = pytest.mark.slow

DEMO = Path(__file__).resolve().parents[1] / "demo" / "run.py"


def environment() -> dict[str, str]:
    """A reader's environment: what the demo leaves is in its project."""
    return {name: value for name, value in os.environ.items() if name != "LOCKSTEP_HOME"} | {"COLUMNS": "100"}


def run_demo(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the demo from a folder that is not the tree's."""
    return subprocess.run(
        [sys.executable, str(DEMO), *arguments],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.req("W-18")
def test_the_demo_walks_to_the_end_and_shows_the_record(tmp_path: Path) -> None:
    done = run_demo("--project", str(tmp_path), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    for title in ("step 1 of 5", "step 2 of 5", "step 3 of 5", "step 4 of 5", "step 5 of 5", "done (exit 0)"):
        assert title in done.stdout
    assert "From hypothesize the graph has no way to step report." in done.stdout
    assert "The same step and turn again, this time with all that it needs: nothing was done twice." in done.stdout
    assert "The agent is a script with prepared answers" in done.stdout

    # Two minutes of reading: nothing runs over the edge, and what is in quotes stands on one line.
    lines = done.stdout.splitlines()
    *told, trace, graph = lines
    assert max(map(len, told)) <= 100
    commands = [line for line in told if line.startswith(("$ ", "    --", " " * 16 + "--"))]
    assert len(commands) > 20
    for line in commands:
        shlex.split(line)

    ledger = Ledger(str(tmp_path / ".lockstep"), create=False)
    (run,) = ledger.every_run()
    kinds = [event.kind for event in ledger.events(run.id)]
    assert (run.status, run.visits["gate"], run.visits["investigate"] >= 2) == ("done", 1, True)
    assert kinds.count("refused") == 1
    assert any(line.startswith(f"Run {run.id}  problem-analysis, turn {run.turn}, done") for line in told)
    assert len(lines) <= 150 + 12 * (run.visits["investigate"] - 2)
    assert f"Next: {run.state['report']['next_step']}" in run.state["report"]["report"].splitlines()
    ledger.close()

    for command, shows in ((trace, "report.next_step: Move `import "), (graph, "gate")):
        shown = subprocess.run(
            shlex.split(command), cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=60
        )
        assert (shown.returncode, shown.stderr) == (0, ""), command
        assert shows in shown.stdout


def test_the_demo_of_the_planner_says_what_it_does(tmp_path: Path) -> None:
    """That it tells its story to the end is seen in tests/skills/test_planner_to_executor.py."""
    command = [sys.executable, str(DEMO.with_name("plan.py")), "--help"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "--pages" in done.stdout


def test_what_is_no_module_is_refused(tmp_path: Path) -> None:
    done = run_demo("--module", "os; print(1)", cwd=tmp_path)
    assert done.returncode == 2
    assert "--module 'os; print(1)' is not a module's name" in done.stderr
