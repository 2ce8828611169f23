"""Two folders of one project, as on two machines, and one ledger on PostgreSQL: commands go on with its runs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib.model.run import Run
from tests.commands.conftest import Command, Walker
from tests.fixtures import skill
from tests.fixtures.kinds import PROJECT, URL, closed_connections
from tests.fixtures.postgres import Server, database_url, postgres
from tests.fixtures.terminal import at_terminal
from tests.hosts.mcp.talking import in_process, talk

__all__ = ["closed_connections", "database_url", "postgres"]
pytestmark = pytest.mark.req("X-04", "X-04.2")


@pytest.fixture(autouse=True)
def shared(database_url: str, closed_connections: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(URL, database_url)
    monkeypatch.setenv(PROJECT, "shop")
    monkeypatch.setenv("LOCKSTEP_HOME", ".lockstep")


@pytest.fixture
def elsewhere(project: Path) -> Walker:
    """The project in another folder, with its own copy of the skill."""
    folder = project.parent / "machine" / "shop"
    (folder / ".git").mkdir(parents=True)
    return Walker(skill.install(folder, "tour"), folder)


def asking(walker: Walker) -> Run:
    """A run that waits for a person."""
    run = walker.go(walker.start(topic="tea"), records={"summary": "seen"})
    return walker.go(walker.go(run, params={"mode": "quick"}), outcome="skip")


def hide(project: Path) -> None:
    """Let nothing of the other machine be on this one."""
    (project.parent / "machine").rename(project.parent / "hidden")


def test_a_run_of_another_machine_is_listed_traced_and_counted(cli: Command, elsewhere: Walker) -> None:
    run = asking(elsewhere)
    listed = json.loads(cli("runs", "--json").out)
    assert [(one["run"], one["status"], one["turn"]) for one in listed] == [(run.id, "waiting", 4)]
    traced = cli("trace", run.id, "--verify")
    assert (traced.code, traced.err) == (0, "")
    assert "summary" in traced.out
    assert "tour" in cli("stats").out
    assert talk(in_process, Path.cwd(), lambda to: to.call("run_state")).data["runs"][0]["run"] == run.id


def test_a_run_goes_on_where_its_script_is_called(
    cli: Command, elsewhere: Walker, installed: Callable[..., Path], project: Path
) -> None:
    run = elsewhere.start(topic="tea")
    here = Walker(installed("tour"), project)
    moved = here.go(run, records={"summary": "seen"})
    assert (moved.step, moved.script) == ("plan", str(project / "skills" / "tour" / "scripts" / "tour.py"))
    back = elsewhere.go(moved, params={"mode": "quick"})
    assert (back.step, back.turn) == ("choose", 3)
    hide(project)
    resumed = cli("resume", run.id)
    assert resumed.code == 0
    assert f"--run {run.id} --turn 3" in resumed.out
    assert str(project) in resumed.out
    assert str(elsewhere.project) not in resumed.out


def test_a_question_of_another_machine_is_answered_and_the_run_is_abandoned_and_removed(
    cli: Command, elsewhere: Walker, installed: Callable[..., Path], project: Path
) -> None:
    script = installed("tour")
    run = asking(elsewhere)
    hide(project)
    words = ("answer", run.id, "yes", "--project", str(project))
    code, shown = at_terminal(*words)
    assert code == 4
    assert f"{script} --step current --run {run.id} --project {project}" in shown
    here = Walker(script, project)
    here.runner.state(here.workflow, run.id)
    code, shown = at_terminal(*words)
    assert (code, "Traceback" in shown) == (0, False), shown
    [event] = [event for event in elsewhere.runner.ledger.events(run.id) if event.actor == "person (terminal)"]
    assert event.detail["answer"] == "yes"
    assert cli("abandon", run.id, "--reason", "gone").code == 0
    assert cli("prune", "--older", "0").err == "1 record removed.\n"
    assert elsewhere.runner.ledger.events() == []


def test_a_damaged_run_is_found_by_doctor_and_taken_out(cli: Command, elsewhere: Walker, project: Path) -> None:
    elsewhere.start(topic="tea")
    assert "the ledger is whole: 1 run" in cli("doctor").out
    elsewhere.runner.ledger.database.execute("UPDATE runs SET data='{}'")
    broken = cli("doctor")
    assert broken.code == 1
    assert "is damaged: run 'testrun1' has a wrong checksum or field" in broken.out
    assert f"lockstep prune --unreadable --project {project}" in broken.out
    code, shown = at_terminal("prune", "--unreadable", "--yes", "--project", str(project))
    assert (code, "1 record removed" in shown) == (0, True), shown
    assert "the ledger is whole: 0 runs" in cli("doctor").out


COMMANDS = [
    ["runs"],
    ["trace", "testrun1"],
    ["resume", "testrun1"],
    ["abandon", "testrun1", "--reason", "gone"],
    ["prune", "--older", "0"],
    ["stats"],
]


def test_while_the_database_is_down_every_command_says_so_and_none_prints_the_password(
    cli: Command, installed: Callable[..., Path], project: Path, postgres: Server
) -> None:
    Walker(installed("tour"), project).start(topic="tea")
    postgres.stop()
    try:
        for words in COMMANDS:
            shown = cli(*words)
            assert (shown.code, shown.out) == (4, ""), words
            assert "lockstep: the ledger of shop in postgresql://lockstep@127.0.0.1:" in shown.err, words
            assert "cannot be reached: " in shown.err
            assert postgres.password not in shown.err
        found = cli("doctor")
        assert found.code == 1
        assert "cannot be reached: " in found.out
        assert f"LOCKSTEP_LEDGER_URL=postgresql://lockstep@127.0.0.1:{postgres.port}/" in found.out
        assert postgres.password not in found.out + found.err
    finally:
        postgres.start()
    # What gave up the run freed its agent, so that its skill would have to be run first for it to be resumed.
    assert [cli(*words).code for words in COMMANDS if words[0] != "resume"] == [0] * (len(COMMANDS) - 1)


def test_a_project_without_a_ledger_is_said_to_have_none(cli: Command) -> None:
    assert "the shared database has no ledger of it" in cli("runs").err
    assert "no run was ever opened here: the shared database has no ledger of it" in cli("doctor").out
    assert cli("trace", "abcdefgh").code == 4
    assert not os.path.exists(".lockstep")


def test_a_walk_leaves_the_shared_ledger_alone(cli: Command, installed: Callable[..., Path]) -> None:
    installed("part")
    shown = cli("walk", "part", given="it\nsomething\nquit\n")
    assert shown.code == 0
    assert " LOCKSTEP_LEDGER_URL= lockstep walk part --run " in shown.out
    assert "the shared database has no ledger of it" in cli("runs").err


def test_the_folder_beside_the_ledger_stays_out_of_git_and_follows_no_link(
    cli: Command, elsewhere: Walker, tmp_path: Path
) -> None:
    elsewhere.start(topic="tea")
    folder = Path(elsewhere.project) / ".lockstep"
    assert (folder / ".gitignore").read_text(encoding="utf-8") == "*\n"
    assert sorted(path.name for path in folder.iterdir()) == [".gitignore", "open"]
    (Path(".lockstep")).mkdir()
    (Path(".lockstep") / "open").symlink_to(tmp_path)
    shown = cli("runs")
    assert (shown.code, "open is a link" in shown.err) == (4, True)
