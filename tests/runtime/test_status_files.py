"""The small file of each open run, by which a host's hook quickly knows the run's step."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib import status_files, user_key
from skills.lib.blocks.command_line import CommandLine
from skills.lib.runtime import Runner
from skills.lib.testing.agent import Agent
from skills.lib.testing.follower import Shell
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.types import Outcome
from tests.fixtures.skill import install, source_of

Factory = Callable[[str], Agent]


def standing(agent: Agent) -> dict[str, tuple[str, int, str]]:
    """Step, turn and status by run, as the status files say."""
    place = agent.project / ".lockstep" / "open"
    found = {path.name: status_files.read(str(agent.project), path.name) for path in place.glob("*")}
    return {name: (one["step"], one["turn"], one["status"]) for name, one in found.items() if one}


@pytest.mark.req("H-02")
def test_an_open_run_has_a_status_file_that_follows_it(agent: Factory) -> None:
    waves = agent("waves")
    block = waves.open()
    assert standing(waves) == {block.run: ("list", 1, "open")}
    told = status_files.read(str(waves.project), block.run)
    assert told is not None
    assert (told["next"], told["tools"], told["project"]) == (block.next, [], str(waves.project))
    explore = waves.follow(block, areas=["a"])
    child = explore.children[0]
    waves.run_command(child.command)
    assert standing(waves) == {block.run: ("explore", 2, "open"), child.id: ("task", 1, "open")}
    ask = waves.run_command(waves.finish(child.command).next)
    assert standing(waves) == {block.run: ("ask", 3, "open")}
    waiting = waves.follow(ask, questions=["Tea?"])
    assert standing(waves) == {block.run: ("ask", 4, "waiting")}
    assert waves.follow(waiting, answer="good").kind == "done"
    assert standing(waves) == {}


def test_a_run_that_opens_makes_the_user_s_key_and_signs_its_status(
    agent: Factory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "state"))
    waves = agent("waves")
    block = waves.open()

    def is_signed() -> bool:
        found = status_files.read(str(waves.project), block.run)
        assert found is not None
        return status_files.is_signed(str(waves.project), block.run, found)

    key = (tmp_path / "state" / "key").read_text()
    assert is_signed()
    (tmp_path / "state" / "key").unlink()
    user_key.make()
    assert (tmp_path / "state" / "key").read_text() != key
    key = (tmp_path / "state" / "key").read_text()
    assert not is_signed()
    waves.run_command(block.next.replace("--step explore", "--step current").partition(" --record")[0])
    assert is_signed()
    user_key.make()
    assert (tmp_path / "state" / "key").read_text() == key
    assert (tmp_path / "state" / "key").stat().st_mode & 0o777 == 0o600
    assert len(list((tmp_path / "state").iterdir())) == 1
    for damaged in ("", key[:-1], f"{key}1"):
        (tmp_path / "state" / "key").write_text(damaged)
        user_key.make()
        assert len((tmp_path / "state" / "key").read_text()) == len(key)
    assert len(list((tmp_path / "state").iterdir())) == 1


def test_a_run_that_is_abandoned_and_a_child_that_is_lost_have_none(agent: Factory) -> None:
    waves = agent("waves")
    explore = waves.follow(waves.open(), areas=["a", "b"])
    for child in explore.children:
        waves.run_command(child.command)
    waves.lose(explore, explore.children[0].id)
    assert set(standing(waves)) == {explore.run, explore.children[1].id}
    runner = Runner(CommandLine("python", waves.script, str(waves.project)))
    runner.abandon(explore.run, "not wanted")
    runner.close()
    assert standing(waves) == {}


def test_a_status_file_that_cannot_be_written_is_missing_rather_than_old(agent: Factory) -> None:
    tour = agent("tour")
    block = tour.open()
    place = tour.project / ".lockstep" / "open"
    for path in place.iterdir():
        path.unlink()
    place.rmdir()
    place.write_text("a file where the folder should be")
    plan = tour.follow(block, summary="seen")
    assert (plan.exit_code, plan.step) == (0, "plan")
    assert status_files.read(str(tour.project), block.run) is None


@pytest.mark.req("H-02")
@pytest.mark.parametrize("name", ["../../../victim/f", "/{}/victim/f", "..", "a/b", ""])
def test_a_name_that_is_no_runs_id_is_no_place(tmp_path: Path, name: str) -> None:
    project, victim = tmp_path / "project", tmp_path / "victim" / "f"
    (project / ".lockstep" / "open" / "a").mkdir(parents=True)
    for path in (victim, project / ".lockstep" / "open" / "a" / "b"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("precious")
    name = name.format(tmp_path)
    status_files.write(str(project), name, {"run": name})
    status_files.remove(str(project), name)
    assert victim.read_text() == (project / ".lockstep" / "open" / "a" / "b").read_text() == "precious"
    assert [path.name for path in victim.parent.iterdir()] == ["f"]


MARKER: dict[str, object] = {
    **dict.fromkeys(("run", "workflow", "project", "python", "script", "step", "title", "status", "next"), "x"),
    "turn": 1,
    "tools": [],
    "parent": None,
}


@pytest.mark.req("H-02")
def test_a_folder_of_status_files_that_is_a_link_is_left_alone(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "notes.txt").write_text("precious")
    (tmp_path / ".lockstep").mkdir()
    (tmp_path / ".lockstep" / "open").symlink_to(victim)
    status_files.write(str(tmp_path), "abc", MARKER)
    status_files.remove(str(tmp_path), "notes.txt")
    assert {path.name: path.read_text() for path in victim.iterdir()} == {"notes.txt": "precious"}


@pytest.mark.req("H-02")
@pytest.mark.parametrize("kind", ["device", "file", "pipe", "folder", "large", "deep"])
def test_what_is_no_small_regular_file_is_no_status_file(tmp_path: Path, kind: str) -> None:
    place = tmp_path / ".lockstep" / "open" / "abc"
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps(MARKER))
    assert status_files.read(str(tmp_path), "abc") == MARKER
    place.rename(tmp_path / "elsewhere")
    if kind == "device":
        place.symlink_to("/dev/zero")
    elif kind == "file":
        place.symlink_to(tmp_path / "elsewhere")
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.write_text(json.dumps({**MARKER, "title": "x" * 5_000_000}) if kind == "large" else "[" * 500_000)
    assert status_files.read(str(tmp_path), "abc") is None


@pytest.mark.req("H-02")
@pytest.mark.parametrize("kind", ["symbolic link", "hard link", "pipe", "longer"])
def test_what_is_in_the_place_of_a_status_file_is_replaced_and_never_written_through(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKSTEP_STATE", str(tmp_path / "state"))  # where no key is
    place = tmp_path / ".lockstep" / "open" / "abc"
    place.parent.mkdir(parents=True)
    victim = tmp_path / "notes.txt"
    victim.write_text("precious")
    if kind == "symbolic link":
        place.symlink_to(victim)
    elif kind == "hard link":
        os.link(victim, place)
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.write_text("x" * 10_000)
    status_files.write(str(tmp_path), "abc", MARKER)
    assert status_files.read(str(tmp_path), "abc") == MARKER
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("tools", [["read", "shell(git)", "shell"], "read", []])
def test_tools_have_canonical_names(tools: list[str]) -> None:
    StepDef("look", "Look", next={Outcome.OK: None}, tools=tools)


def test_a_step_without_tools_has_those_of_its_workflow() -> None:
    look = StepDef("look", "Look", next={Outcome.OK: "tell"})
    tell = StepDef("tell", "Tell", next={Outcome.OK: None}, tools=["write"])
    workflow = Workflow("tools", look, tell, tools=["read"])
    assert [workflow.tools_of(step) for step in workflow.steps] == [("read",), ("write",)]
    assert Workflow.from_data(workflow.to_data()) == workflow
    assert "tools" not in Workflow("tools", look).to_data()


def test_what_a_workflow_forbids_stands_in_each_step_after_its_own(tmp_path: Path, project: Path) -> None:
    steps = 'StepDef("a", next={Outcome.OK: "b"}, forbidden=["Own."]), StepDef("b", next={Outcome.OK: None})'
    source = source_of("bans", steps, 'forbidden=["All."]')
    agent = Agent(install(tmp_path, "bans", source), project)
    first = agent.open()
    second = agent.run_command(first.next)
    assert [rule.text for rule in first.root.iterfind("FORBIDDEN/rule")] == ["Own.", "All."]
    assert [rule.text for rule in second.root.iterfind("FORBIDDEN/rule")] == ["All."]
    assert Workflow.from_data(agent.workflow.to_data()) == agent.workflow


def test_other_tools_of_the_workflow_matter_to_a_run_that_is_open(tmp_path: Path, project: Path) -> None:
    steps = 'StepDef("a", next={Outcome.OK: "b"}), StepDef("b", next={Outcome.OK: None})'
    script = install(tmp_path, "policy", source_of("policy", steps, 'tools=["read"]'))
    shell = Shell(project)
    first = shell(f"{shlex.quote(sys.executable)} {shlex.quote(str(script))} --step 1 --project {project}")
    install(tmp_path, "policy", source_of("policy", steps, 'tools=["read", "edit"]'))
    refused = shell(first.next)
    assert refused.code == "definition-changed"
    assert "step a, where the run stands, has another tools" in refused.why


@pytest.mark.parametrize("tool", ["Bash", "shell()", "shell(rm  -rf)", "shell(a;b)", "shell(a", "reed", ""])
def test_a_tool_of_another_name_is_refused(tool: str) -> None:
    with pytest.raises(ValueError, match="is not a tool: use one of read, search, edit, write, shell, web, agent, ask"):
        StepDef("look", "Look", next={Outcome.OK: None}, tools=[tool])
