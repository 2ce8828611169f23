"""The demo of the agent: five ways out that lead nowhere, one kill, and a run that is done."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from skills.lib.agent.watching.activity import Activity, path_in
from skills.lib.ledger import Ledger, verification

pytestmark = pytest.mark.slow

DEMO = Path(__file__).resolve().parents[1] / "demo" / "autonomous.py"


def test_the_demo_tells_five_ways_out_and_a_kill_and_ends(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "LOCKSTEP_HOME"}
    done = subprocess.run(
        [sys.executable, str(DEMO), "--project", str(tmp_path / "project")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    *told, command = done.stdout.splitlines()
    text = " ".join(told)
    assert max(map(len, told)) <= 100
    places = [text.index(f"Way out {number}, ") for number in range(1, 6)]
    killed = text.index("Now the process is killed (SIGKILL)")
    assert places == sorted(places)
    assert places[3] < killed < places[4]
    assert "100%  ✓ Report is done: 1 model call. The run is done." in text
    assert "5 ways out of the skill led nowhere" in text

    home = str(tmp_path / "project" / ".lockstep")
    with Ledger(home, create=False) as ledger, Activity(path_in(home)) as activity:
        [run] = ledger.every_run()
        verification.verify(ledger)
        kinds = [event.kind for event in ledger.events(run.id)]
        calls = [row.data["tool"] for row in activity.rows(run.id, kind="call")]
        refused = [row.data["tool"] for row in activity.rows(run.id, kind="refused")]
        models = activity.count(run.id, kind="model")
    assert run.status == "done"
    assert kinds == ["opened", "moved", "refused", "moved", "moved", "finished"]
    assert sorted(calls) == ["edit", "read", "read"]
    assert refused == ["edit", "report_step"]
    assert models == 12  # eleven answers, and the one that the kill took
    changed = (tmp_path / "project" / "stats.py").read_text(encoding="utf-8")
    assert changed.count("if values else 0") == 1

    shown = subprocess.run(
        shlex.split(command), cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "small-fix, turn 5, done" in shown.stdout
