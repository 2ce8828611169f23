"""Skills and projects that were moved while a run was open: everything printed names their new places."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock, filled
from skills.lib.testing.follower import Shell
from tests.fixtures.deviations import recorded_state
from tests.fixtures.skill import install, source_of

LAST = 'StepDef("last", "Last", "Stop.", {Outcome.OK: None}, requires=[Field("end")])'
SENDS = """
StepDef("first", "First", "Begin.", {Outcome.OK: "send"}),
StepDef("send", "Send", "Send.", {Outcome.OK: "last"}, Dispatch("explore", tasks=["a", "b"])),
"""
SCRIPTED = """
StepDef("first", "First", "Begin.", {Outcome.OK: "send"}),
StepDef("send", "Send", "Send.", {Outcome.OK: "last"}, Dispatch("explore", script="deep/part.py", params={"all": "x"})),
"""
PART = 'StepDef("look", "Look", "Look.", {Outcome.OK: None}, needs=["all"], requires=[Field("seen")])'


@dataclass
class Moving:
    """A skill in a folder that may be moved, and the agent that walks it; ``call`` runs a script of the folder."""

    folder: Path
    agent: Agent

    def move(self) -> None:
        after = self.folder.with_name("after")
        self.agent.script = self.agent.script.replace(str(self.folder), str(after))
        self.folder = self.folder.rename(after)
        for name in [name for name in sys.modules if name.startswith("lockstep_skill.")]:
            del sys.modules[name]

    def call(self, *words: str) -> PrintedBlock:
        project = ["--project", str(self.agent.project)]
        return self.agent.run_command(shlex.join([sys.executable, self.agent.script, *words, *project]))

    def is_new(self, command: str) -> bool:
        """Whether a command names a script of the folder's new place, and that is there."""
        script = Path(shlex.split(command)[1])
        return script.is_relative_to(self.folder) and script.is_file()


Make = Callable[..., Moving]


@pytest.fixture
def moving(tmp_path: Path, project: Path) -> Make:
    def make(steps: str, part: bool = False) -> Moving:
        script = install(tmp_path / "before", "moves", source_of("moves", steps + LAST))
        if part:
            deep = install(tmp_path / "parts", "part", source_of("part", PART, 'params=[Arg("all")]')).parent
            deep.rename(script.parent / "deep")
        return Moving(tmp_path / "before", Agent(script, project))

    return make


def test_sub_agents_of_a_skill_that_moved_go_on(moving: Make) -> None:
    skill = moving(SENDS)
    block = skill.agent.follow(skill.agent.open())
    begun = skill.agent.run_command(block.children[0].command)
    skill.move()
    shown = skill.call("--step", "current", "--run", block.run)
    assert [skill.is_new(child.command) for child in shown.children] == [True, True]
    assert skill.is_new(shown.next)
    first = skill.call("--step", "done", "--run", begun.run, "--turn", "1", "--record", "result=seen")
    assert first.kind == "done"
    second = skill.agent.run_command(shown.children[1].command)
    last = skill.agent.follow(second, result="seen")
    assert skill.is_new(last.next)
    assert skill.agent.run_command(last.next).step == "last"
    runs = recorded_state(skill.agent)["runs"]
    assert {Path(run["script"]).is_relative_to(skill.folder) for run in runs.values()} == {True}


@pytest.mark.parametrize("begun", [False, True])
def test_a_sub_agent_s_own_script_is_found_in_its_new_place(moving: Make, begun: bool) -> None:
    skill = moving(SCRIPTED, part=True)
    before = skill.folder
    block = skill.agent.follow(skill.agent.open())
    command = block.children[0].command
    if begun:
        command = filled(skill.agent.run_command(command).next, {"seen": "y"})
    skill.move()
    shown = skill.agent.run_command(command.replace(str(before), str(skill.folder)))
    assert (shown.exit_code, shown.code) == (0, "")
    assert skill.is_new(shown.next)
    if not begun:
        shown = skill.agent.follow(shown, seen="y")
    assert skill.is_new(shown.next)
    assert skill.agent.run_command(shown.next).step == "last"
    recorded_state(skill.agent)


def test_a_parent_gives_the_new_place_of_its_sub_agent_s_script(moving: Make) -> None:
    skill = moving(SCRIPTED, part=True)
    block = skill.agent.follow(skill.agent.open())
    skill.move()
    shown = skill.call("--step", "current", "--run", block.run)
    assert skill.is_new(shown.children[0].command)
    assert skill.agent.run_command(shown.children[0].command).step == "look"


def test_an_agent_that_is_lost_finds_the_runs_of_a_skill_that_moved(moving: Make) -> None:
    skill = moving('StepDef("first", "First", "Begin.", {Outcome.OK: "last"}),')
    block = skill.agent.open()
    skill.move()
    for words in (["--turn", "1"], ["--turn", "1", "--run", "zzzzzzzz"]):
        refused = skill.call("--step", "next", *words)
        assert skill.is_new(refused.next)
        assert skill.agent.run_command(refused.next).run == block.run
    again = skill.call("--step", "1")
    assert (again.run, again.notices) == (block.run, [])
    other = skill.call("--step", "1", "--new")
    assert other.run != block.run
    assert [skill.is_new(command.text or "") for command in other.root.iterfind("NOTICE/command")] == [True]
    assert skill.is_new(skill.agent.follow(again).next)


def test_the_new_place_of_a_skill_is_on_record(moving: Make) -> None:
    skill = moving('StepDef("first", "First", "Begin.", {Outcome.OK: "last"}),')
    block = skill.agent.open()
    skill.move()
    skill.call("--step", "current", "--run", block.run)
    skill.call("--step", "current", "--run", block.run)
    assert [event.kind for event in skill.agent.events(block.run)] == ["opened", "skill-moved"]
    assert skill.agent.state(block.run).script == skill.agent.script
    recorded_state(skill.agent)


def test_another_skill_s_script_does_not_take_a_sub_agent_over(moving: Make, library: Path) -> None:
    skill = moving(SENDS)
    block = skill.agent.follow(skill.agent.open())
    skill.move()
    tour = Agent(library / "skills" / "tour" / "scripts" / "tour.py", skill.agent.project)
    script, child = shlex.quote(tour.script), block.children[0].id
    tour.run_command(f"{sys.executable} {script} --step 1 --run {child} --project {tour.project}")
    assert skill.agent.state(child).script != tour.script


def test_a_project_that_moved_keeps_its_runs_in_a_ledger_elsewhere(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKSTEP_HOME", str(tmp_path / "home"))
    agent = Agent(install(tmp_path, "plain"), project)
    block = agent.open()
    agent.project = project.rename(tmp_path / "after")
    shown = agent.run_command(filled(block.next, {"thing": "x"}).replace(str(project), str(agent.project)))
    assert (shown.kind, shown.run, shown.turn) == ("step", block.run, 2)
    assert f"--project {agent.project}" in shown.next


def test_a_relative_home_that_names_another_project_s_ledger_moves_none_of_its_runs(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "deep" / "two"
    for folder in (one, two):
        (folder / ".lockstep").mkdir(parents=True)
    steps = 'StepDef("first", "First", "Do.", {Outcome.OK: "last"}, requires=[Artifact("proof")]),' + LAST
    agent = Agent(install(tmp_path, "proves", source_of("proves", steps)), one)
    block = agent.open()
    (two / "proof").write_text("x", encoding="utf-8")
    shell = Shell("/", {"LOCKSTEP_HOME": os.path.join("..", "..", "one", ".lockstep")})
    refused = shell(block.next.replace(str(one), str(two)))
    assert (refused.exit_code, refused.code) == (3, "other-project")
    assert agent.state(block.run).turn == 1
