"""Runs are submitted, and a worker follows them in worktrees of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skills.lib.errors import RefusedError, UsageError
from skills.lib.fleet.fleet import Fleet
from skills.lib.ledger.postgres.address import of_home
from tests.agent.scripted import Answer, calling, report
from tests.fixtures.kinds import Kind
from tests.fleet.fleets import PLAIN, agent, files, git, moves, project, states, submit, until, work, workers


@pytest.mark.req("X-03", "X-03.3")
def test_a_worker_follows_what_was_submitted_and_touches_nothing_of_the_users(tmp_path: Path, kind: Kind) -> None:
    folder = project(tmp_path / "p")
    (folder / "README.md").write_text("Changed, and not committed.\n", encoding="utf-8")
    git(folder, "add", "README.md")
    (folder / "notes.txt").write_text("untracked\n", encoding="utf-8")
    before = git(folder, "status", "--porcelain"), git(folder, "rev-parse", "HEAD")
    one, other = submit(folder, ["one", "other"])
    assert states(folder) == {one: "queued", other: "queued"}
    work(folder)
    assert states(folder) == {one: "done", other: "done"}
    assert files(folder, one) == {"made/again.txt": "again of one", "made/note.txt": "note of one"}
    assert files(folder, other) == {"made/again.txt": "again of other", "made/note.txt": "note of other"}
    assert files(folder, one, "README.md") == {"README.md": "Changed, and not committed."}
    assert files(folder, one, "notes.txt") == {"notes.txt": "untracked"}
    assert moves(folder, one) == moves(folder, other) == PLAIN
    assert (git(folder, "status", "--porcelain"), git(folder, "rev-parse", "HEAD")) == before
    assert not (folder / "made").exists()
    assert len(git(folder, "worktree", "list").splitlines()) == 1


@pytest.mark.req("X-03")
def test_two_projects_in_one_database_do_not_see_each_other(
    tmp_path: Path, database_url: str, closed_connections: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their workers have one name, and their tasks one key."""
    monkeypatch.setenv("LOCKSTEP_LEDGER_URL", database_url)
    shop, till = project(tmp_path / "shop"), project(tmp_path / "till")
    for folder in (shop, till):
        git(folder, "remote", "add", "origin", f"https://git.example/acme/{folder.name}.git")
        assert of_home(str(folder / ".lockstep")).project == f"git.example/acme/{folder.name}"
    with workers(shop, ["w"], until_empty=True) as first:
        until(lambda: not first.is_at_work("w"))  # it makes DBOS's tables; beside another worker that takes 20 s
    [one], [other] = submit(shop, ["one"], key="nightly"), submit(till, ["other"], key="nightly")
    assert (states(shop), states(till)) == ({one: "queued"}, {other: "queued"})
    with workers(till, ["w"], patience=4.0):
        until(lambda: states(till) == {other: "done"})
        assert [found.worker for found in Fleet(str(till)).members()] == ["w"]
        assert Fleet(str(shop)).members() == []
        assert Fleet(str(shop)).drain() == []
        assert states(shop) == {one: "queued"}
        with workers(shop, ["w"], patience=4.0):
            until(lambda: states(shop) == {one: "done"})
        assert [found.is_live for found in Fleet(str(till)).members()] == [True]
    assert moves(shop, one) == moves(till, other) == PLAIN
    assert files(till, other) == {"made/again.txt": "again of other", "made/note.txt": "note of other"}


def test_each_move_is_kept_as_a_commit(tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    [run] = submit(folder, ["one"])
    work(folder)
    assert git(folder, "log", "--format=%s", f"refs/lockstep/{run}").splitlines() == [
        f"lockstep {run}: finished, done, turn 3",
        f"lockstep {run}: moved, again, turn 2",
        "first",
    ]


@pytest.mark.req("X-03")
def test_a_key_is_for_one_task(tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    [run] = submit(folder, ["one"], key="nightly")
    assert submit(folder, ["one"], key="nightly") == [run]
    with pytest.raises(RefusedError, match="the key 'nightly' opened run"):
        submit(folder, ["other"], key="nightly")
    work(folder)
    assert submit(folder, ["one"], key="nightly") == [run]
    assert submit(folder, ["one"]) != [run]
    assert moves(folder, run) == PLAIN


@pytest.mark.req("X-03")
def test_a_lower_priority_comes_first_among_the_runs_of_a_user(tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    runs = {number: submit(folder, [f"of {number}"], priority=number)[0] for number in (30, 10, 20)}
    asked: list[str] = []

    def answer(messages: list[Any], tools: list[Any]) -> Answer:
        task = messages[0].text.partition("<task>")[2].partition("</task>")[0]
        asked.extend([task] if task not in asked else [])
        return report(record={"thing": task}) if "thing" in str(tools) else report(outcome="ok")

    work(folder, answer, per_user=1)
    assert set(states(folder)) == set(runs.values())
    assert asked == ["of 10", "of 20", "of 30"]


def test_a_run_that_waits_goes_on_once_it_is_answered(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "asking", ASKING)
    [run] = submit(folder, ["one"], skill="asking")
    work(folder)
    assert states(folder) == {run: "waiting"}
    agent(folder).answer(run, "yes")
    assert states(folder) == {run: "queued"}
    work(folder)
    assert states(folder) == {run: "done"}
    assert files(folder, run) == {"made/last.txt": "last of one", "made/look.txt": "look of one"}


ASKING = """from skills.lib.workflow.core import *
from skills.lib.workflow.requirements import *
from skills.lib.workflow.types import *

WORKFLOW = Workflow(
    "asking",
    StepDef("look", "Look", "Look.", {Outcome.OK: "ask"}, requires=[Field("thing")]),
    StepDef(
        "ask",
        "Ask",
        "Ask.",
        {Outcome.OK: "last", Outcome.FAIL: None},
        person("Go on?", {"yes": Outcome.OK, "no": Outcome.FAIL}),
    ),
    StepDef("last", "Last", "Do it.", {Outcome.OK: None}, requires=[Field("thing")]),
)
register_workflow(WORKFLOW)
"""


def test_a_run_whose_session_gives_up_waits_until_it_is_submitted_again(tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    [run] = submit(folder, ["one"])
    work(folder, lambda messages, tools: calling(("abort", {"reason": "no idea"})))
    [found] = Fleet(str(folder)).runs()
    assert found.state == "parked"
    assert "no idea" in found.submission.reason
    work(folder)
    assert states(folder) == {run: "parked"}
    assert Fleet(str(folder)).submit_again(run) == run
    work(folder)
    assert states(folder) == {run: "done"}
    with pytest.raises(RefusedError, match="is done: there is nothing to do"):
        Fleet(str(folder)).submit_again(run)


def test_a_run_whose_commit_is_not_here_waits_for_a_person(tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    [run] = submit(folder, ["one"])
    git(folder, "update-ref", "-d", f"refs/lockstep/{run}")
    (folder / ".git" / "objects").rename(tmp_path / "objects")
    git(tmp_path, "init", "--quiet", "--bare", "empty")
    (tmp_path / "empty" / "objects").rename(folder / ".git" / "objects")
    work(folder)
    [found] = Fleet(str(folder)).runs()
    assert found.state == "parked"
    assert "which" in found.submission.reason
    assert "does not have" in found.submission.reason


def test_a_run_whose_skill_cannot_be_loaded_any_more_waits_for_a_person(tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    [run] = submit(folder, ["one"])
    graph = folder / "skills" / "plain" / "scripts" / "plain_workflow.py"
    source = graph.read_text(encoding="utf-8")
    graph.write_text(f"{source}\nno such name\n", encoding="utf-8")
    with workers(folder, ["w"], until_empty=True):
        until(lambda: states(folder) == {run: "parked"})
    [found] = Fleet(str(folder)).runs()
    assert "plain_workflow.py" in found.submission.reason
    graph.write_text(source, encoding="utf-8")
    Fleet(str(folder)).submit_again(run)
    with workers(folder, ["w"], until_empty=True):
        until(lambda: states(folder) == {run: "done"})
    assert files(folder, run) == {"made/again.txt": "again of one", "made/note.txt": "note of one"}


def test_a_run_of_an_older_definition_goes_on(tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    [run] = submit(folder, ["one"])
    graph = folder / "skills" / "plain" / "scripts" / "plain_workflow.py"
    graph.write_text(graph.read_text(encoding="utf-8").replace("Once more, or not.", "Once more?"), encoding="utf-8")
    with workers(folder, ["w"], until_empty=True):
        until(lambda: states(folder)[run] in ("done", "parked"))
    [found] = Fleet(str(folder)).runs(ended=True)
    assert (found.state, found.submission.reason) == ("done", "")


def test_what_cannot_be_submitted_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    for options in ({"priority": 0}, {"priority": 1_000_001}, {"user": "a\nb"}, {"user": "a" * 101}):
        with pytest.raises(UsageError):
            submit(folder, ["one"], **options)
    assert states(folder) == {}
    (tmp_path / "bare").mkdir()
    with pytest.raises(RefusedError, match="is in no git repository"):
        Fleet(str(tmp_path / "bare"))


def test_two_workers_of_one_name_are_refused(tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    with workers(folder, ["w"]) as running:
        until(lambda: [one.worker for one in Fleet(str(folder)).members()] == ["w"])
        with pytest.raises(RefusedError, match="a worker of the name w is at work"):
            work(folder, name="w")
        assert Fleet(str(folder)).drain() == ["w"]
        until(lambda: not running.is_at_work("w"))
    assert Fleet(str(folder)).members() == []
