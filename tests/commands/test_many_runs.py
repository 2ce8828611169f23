"""Ledgers with many runs, and large ones: what is listed, what is counted, what is checked, in bounded memory."""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib.engine.decision import Move
from skills.lib.ledger import Ledger
from tests.commands.conftest import Command, Walker

Install = Callable[..., Path]
Walk = Callable[[Path], Walker]


def change(statement: str) -> None:
    connection = sqlite3.connect(Path(os.environ["LOCKSTEP_HOME"]) / "runs.db")
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_the_runs_that_were_opened_last_are_listed_and_the_others_counted(
    cli: Command, installed: Install, walker: Walk
) -> None:
    walk = walker(installed("plain"))
    runs = [walk.start().id for _ in range(52)]
    shown = cli("runs", "--json")
    assert [run["run"] for run in json.loads(shown.out)] == runs[:1:-1]
    assert shown.err == "2 more, opened earlier, are not listed: --limit 52 lists them.\n"
    shown = cli("runs", "--limit", "2", "--skill", "plain")
    assert [line.split()[0] for line in shown.out.splitlines()[1:]] == runs[:-3:-1]
    assert shown.err == "50 more, opened earlier, are not listed: --limit 52 lists them.\n"
    shown = cli("runs", "--limit", "52")
    assert (len(shown.out.splitlines()), shown.err) == (53, "")


def test_resume_lists_the_runs_that_moved_last_and_counts_the_others(
    cli: Command, installed: Install, walker: Walk
) -> None:
    walk = walker(installed("plain"))
    runs = [walk.start() for _ in range(52)]
    walk.go(runs[0], records={"thing": "x"})
    shown = cli("resume")
    lines = shown.out.splitlines()[1:]
    assert len(lines) == 50
    listed = [line.split()[-1] for line in lines]
    assert runs[0].id in listed
    assert not {runs[1].id, runs[2].id} & set(listed)
    assert shown.err.splitlines() == [
        "52 runs are open. Name the one to go on with:",
        "2 more, which moved earlier, are not listed: lockstep runs --limit 52",
    ]


def test_a_trace_checks_the_run_and_those_of_its_sub_agents_and_the_whole_ledger_on_request(
    cli: Command, installed: Install, walker: Walk
) -> None:
    walk = walker(installed("brood"))
    run, other = (walk.go(walk.start(), records={"targets": ["a", "b"]}) for _ in range(2))
    change(f"UPDATE events SET detail='{{}}' WHERE run='{other.id}' AND kind='moved'")
    for command in (["trace", run.id], ["runs"], ["stats"]):
        assert cli(*command).code == 0, command
        shown = cli(*command, "--verify")
        assert (shown.code, shown.out) == (4, "")
        assert "has a wrong checksum" in shown.err
    assert cli("trace", other.id).code == 4
    change(f"UPDATE events SET at=0 WHERE run='{run.id}.1'")
    assert cli("trace", run.id).code == 4


@pytest.fixture
def large(cli: Command, installed: Install, walker: Walk) -> str:
    """A ledger of 300 MB, as a cloned project may bring one: an open run, and many that ended, with long texts."""
    walk = walker(installed("plain"))
    run = walk.start()
    ledger = Ledger(os.environ["LOCKSTEP_HOME"])
    text = "x" * 100_000
    ledger.database.execute("PRAGMA synchronous=OFF")
    for number in range(1_000):
        fresh = run.changed(id=f"large{number}", version=0, state={"a": {"text": text}}, status="done", step=None)
        ledger.commit(None, Move(fresh, "opened", {"text": text}), "agent")
    ledger.close()
    assert (Path(os.environ["LOCKSTEP_HOME"]) / "runs.db").stat().st_size > 300_000_000
    return run.id


@pytest.mark.slow
def test_a_large_ledger_is_read_in_bounded_memory(large: str, project: Path) -> None:
    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (300_000_000, 300_000_000))

    for words in (
        ["runs"],
        ["runs", "--all"],
        ["runs", "--all", "--skill", "plain"],
        ["trace", large],
        ["resume", large],
        ["stats"],
        ["list"],
        ["runs", "--verify"],
        ["trace", "abcdefgh"],
    ):
        command = [sys.executable, "-P", "-m", "lockstep", *words, "--project", str(project)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, preexec_fn=bounded, check=False)
        assert done.returncode == (2 if words[-1] == "abcdefgh" else 0), (words, done.stderr)
