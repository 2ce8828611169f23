"""Submitted runs are cancelled, and no session beside the workers follows one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from skills.lib.agent import runs
from skills.lib.agent.kept import submissions
from skills.lib.agent.kept.lease import lease
from skills.lib.commands.console.app import lockstep
from skills.lib.errors import RefusedError
from skills.lib.fleet.cancelling import cancel
from skills.lib.fleet.fleet import Fleet
from skills.lib.fleet.members import Members
from skills.lib.fleet.places import WORKERS, Place
from skills.lib.ledger import Ledger
from tests.fixtures.kinds import Kind
from tests.fleet.fleets import PLAIN, agent, moves, project, states, submit, until, work, worker, workers


def asks_its_model(folder: Path, run: str) -> bool:
    """True if a session of the run has begun a model call."""
    with agent(folder).activity() as activity:
        return activity.count(run, kind="model") > 0


def command(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(lockstep, ["agent", words[0], "--project", str(folder), *words[1:]])


@pytest.mark.req("X-03")
def test_a_run_that_a_worker_follows_is_cancelled_and_waits_until_it_is_submitted_again(
    tmp_path: Path, kind: Kind
) -> None:
    folder = project(tmp_path / "p")
    [run] = submit(folder, ["one"])
    with workers(folder, ["w"], pause=1.0, patience=4.0):
        until(lambda: states(folder) == {run: "at work"})
        done = command(folder, "cancel", run, "--json")
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout) == {"run": run, "ended": True, "step": "note"}
        [found] = Fleet(str(folder)).runs()
        assert found.state == "parked"
        assert found.submission.reason.startswith("cancelled")
        again = command(folder, "cancel", run)
        assert again.exit_code == 3
        assert "there is no session to cancel" in again.output
        assert command(folder, "submit", "--run", run).exit_code == 0
        until(lambda: states(folder) == {run: "done"})


@pytest.mark.req("X-03")
def test_a_worker_asks_no_model_for_a_cancelled_run_and_keeps_its_worktree(tmp_path: Path, kind: Kind) -> None:
    folder = project(tmp_path / "p")
    [run] = submit(folder, ["one"])
    with workers(folder, ["w"], pause=2.0, patience=4.0):
        until(lambda: asks_its_model(folder, run))
        assert command(folder, "cancel", run).exit_code == 0
        until(lambda: [one.runs for one in Fleet(str(folder)).members()] == [()])
        [other] = submit(folder, ["other"])
        until(lambda: states(folder)[other] == "done")  # the worker goes on without it
        assert states(folder) == {run: "parked", other: "done"}
    with agent(folder).activity() as activity:
        assert activity.count(run, kind="model") == 1
    assert moves(folder, run) == {(1, "opened"): 1, (1, "submitted"): 1, (1, "parked"): 1}
    kept = folder / ".lockstep" / "fleet" / "w" / "runs"
    assert (kept / run / "README.md").read_text(encoding="utf-8") == "A project.\n"


def test_a_run_that_is_cancelled_on_another_machine_stops_in_its_worker(tmp_path: Path) -> None:
    """The ledger alone says it: the activities are not those of the worker's machine."""
    folder = project(tmp_path / "p")
    [run] = submit(folder, ["one"])
    with workers(folder, ["w"], pause=1.0, patience=4.0):
        until(lambda: asks_its_model(folder, run))
        with Ledger(str(folder / ".lockstep"), create=False) as ledger:
            submissions.park(ledger, runs.known(str(folder), run), "cancelled by Ada", "person", "Ada")
        until(lambda: states(folder) == {run: "parked"})
        [found] = Fleet(str(folder)).runs()
    assert (found.submission.reason, found.submission.status) == ("cancelled by Ada", "open")
    assert moves(folder, run) == {(1, "opened"): 1, (1, "submitted"): 1, (1, "parked"): 1}


def test_a_queued_run_is_cancelled_before_a_worker_takes_it(tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    [run] = submit(folder, ["one"])
    done = command(folder, "cancel", run)
    assert done.exit_code == 0, done.output
    assert f"agent submit --run {run}" in done.output
    assert states(folder) == {run: "parked"}
    work(folder)
    assert states(folder) == {run: "parked"}
    assert Fleet(str(folder)).submit_again(run) == run
    work(folder)
    assert states(folder) == {run: "done"}


@pytest.mark.req("X-03.1")
def test_no_session_beside_the_workers_follows_a_submitted_run(
    tmp_path: Path, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKSTEP_MODEL", "openai:gpt-5.2")
    monkeypatch.setenv("OPENAI_API_KEY", "no-key")
    folder = project(tmp_path / "p")
    [run] = submit(folder, ["one"])
    with pytest.raises(RefusedError, match=f"run {run} is submitted: workers follow it"):
        agent(folder).advance(run)
    refused = command(folder, "run", "--run", run)
    assert refused.exit_code == 3
    assert f"lockstep agent cancel {run}" in refused.output
    assert moves(folder, run) == {(1, "opened"): 1, (1, "submitted"): 1}
    cancel(agent(folder), run)
    assert agent(folder).advance(run).status == "done"


def test_a_worker_leaves_a_run_alone_that_a_session_here_drives(tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    run = agent(folder).start("plain", "one")
    Fleet(str(folder)).submit_again(run)
    members = Members(Place(str(folder), WORKERS))
    try:
        with worker(folder) as following:
            members.join(following.name, 1, 60.0)
            with lease(str(folder / ".lockstep"), run):
                assert following.follow(run) == "again"
            assert moves(folder, run) == {(1, "opened"): 1, (1, "submitted"): 1}
            assert following.follow(run) == "over"
    finally:
        members.close()
    assert moves(folder, run) == PLAIN
