"""``lockstep agent submit``, ``status``, ``drain`` and ``work``, as a person and a program use them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from skills.lib.commands.console.app import lockstep
from tests.fleet.fleets import git, project


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("LOCKSTEP_HOME")
    monkeypatch.setenv("LOCKSTEP_MODEL", "openai:gpt-5.2")
    monkeypatch.setenv("OPENAI_API_KEY", "no-key")
    return project(tmp_path / "p")


def run(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(lockstep, ["agent", words[0], "--project", str(folder), *words[1:]])


def test_a_run_is_submitted_and_shown(folder: Path) -> None:
    done = run(folder, "submit", "/plain look at it", "--user", "anna", "--priority", "10", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["run"]
    again = run(folder, "submit", "plain", "look at it", "--user", "anna", "--priority", "10")
    assert again.stdout == f"{found}\n"
    shown = json.loads(run(folder, "status", "--json").stdout)
    assert shown["workers"] == []
    [one] = shown["runs"]
    assert {name: one[name] for name in ("run", "workflow", "user", "priority", "task", "state", "worker")} == {
        "run": found,
        "workflow": "plain",
        "user": "anna",
        "priority": 10,
        "task": "look at it",
        "state": "queued",
        "worker": "",
    }
    assert one["commit"] == git(folder, "rev-parse", f"refs/lockstep/{found}")
    assert "queued" in run(folder, "status").stdout
    assert json.loads(run(folder, "drain", "--json").stdout) == {"asked": [], "at_work": []}


def test_the_ref_of_a_run_is_pruned_with_it_and_no_other_ref(folder: Path) -> None:
    gone, kept = (run(folder, "submit", "plain", task).stdout.strip() for task in ("one", "other"))
    git(folder, "update-ref", "refs/lockstep-other/x", "HEAD")
    cli = CliRunner()
    ended = cli.invoke(lockstep, ["abandon", gone, "--reason", "enough", "--project", str(folder)])
    assert ended.exit_code == 0, ended.output
    assert len(git(folder, "for-each-ref", "refs/lockstep").splitlines()) == 2
    pruned = cli.invoke(lockstep, ["prune", "--older", "0", "--project", str(folder)])
    assert "1 record removed." in pruned.output
    refs = git(folder, "for-each-ref", "--format=%(refname)").splitlines()
    assert refs == ["refs/heads/main", "refs/lockstep-other/x", f"refs/lockstep/{kept}"]


def test_a_run_that_is_parked_says_why_and_how_to_go_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run(folder, "submit", "plain", "look").stdout.strip()
    monkeypatch.delenv("LOCKSTEP_MODEL")
    words = [sys.executable, "-P", "-m", "lockstep", "agent", "work", "--until-empty", "--project", str(folder)]
    worked = subprocess.run(words, capture_output=True, text=True, timeout=100, check=True)
    why = (
        "no model is set; valid: provider:name, as openai:gpt-5.2 or anthropic:claude-sonnet-5; "
        "try: set LOCKSTEP_MODEL, or give --model"
    )
    assert f"run {found} is parked: {why}\n" in worked.stderr
    shown = run(folder, "status")
    assert why in shown.stdout
    assert shown.stderr.endswith(
        f"1 run: 1 parked\nTo go on with one that is parked: lockstep agent submit --run RUN --project {folder}\n"
    )


def test_what_is_wrong_is_told(folder: Path, tmp_path: Path) -> None:
    assert "no worker 'x' is at work" in run(folder, "drain", "x").output
    assert run(folder, "submit", "plan", "look").exit_code == 2
    assert run(folder, "submit", "/planner look", "--param", "reqest=x").stderr == (
        "lockstep: reqest is not asked for here; did you mean request?\n"
        "  valid: request, plan\n"
        "  try:   lockstep show planner\n"
    )
    assert run(folder, "submit", "plain", "look", "--priority", "0").exit_code == 2
    (tmp_path / "bare").mkdir()
    refused = run(tmp_path / "bare", "status")
    assert refused.exit_code == 3
    assert "is in no git repository" in refused.output
