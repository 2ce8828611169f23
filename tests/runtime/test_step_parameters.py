"""A parameter of leaving a step and a field may share a name: which is meant depends on the run's step."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import filled
from tests.fixtures.deviations import assert_refused
from tests.fixtures.skill import install, source_of

LAST = 'StepDef("last", "Last", "Stop.", {Outcome.OK: None})'


def skill(folder: Path, project: Path, steps: str, more: str) -> Agent:
    return Agent(install(folder, "named", source_of("named", steps + LAST, more)), project)


def test_a_parameter_of_a_step_may_be_recorded(tmp_path: Path, project: Path) -> None:
    steps = 'StepDef("one", "One", "O.", {Outcome.OK: "last"}, requires=[Field("seen")]),'
    agent = skill(tmp_path, project, steps, 'params=[Arg("depth", "int", step="one")]')
    block = agent.open()
    command = filled(block.next, {"seen": "s"}).replace("--depth FILL_depth", "--record depth=3")
    assert agent.run_command(command).step == "last"
    assert agent.state(block.run).state["one"] == {"seen": "s", "depth": 3}
    twice = filled(agent.open("--new").next, {"seen": "s", "depth": "3"}) + " --record depth=4"
    assert_refused(agent, twice, "unknown-field")


def test_a_field_may_have_the_name_of_another_step_s_parameter(tmp_path: Path, project: Path) -> None:
    steps = """StepDef("one", "One", "O.", {Outcome.OK: "two"}),
    StepDef("two", "Two", "T.", {Outcome.OK: "last"}, requires=[Field("note")]),"""
    agent = skill(tmp_path, project, steps, 'params=[Arg("note", step="one")]')
    two = agent.follow(agent.open(), note="x")
    assert agent.follow(two, note="y").step == "last"
    state = agent.state(two.run).state
    assert (state["one"]["note"], state["two"]["note"]) == ("x", "y")


@pytest.mark.parametrize("name, role", [("result", "explore"), ("verdict", "explore"), ("items", "quality-reviewer")])
def test_a_sub_agent_s_report_may_have_the_name_of_a_parameter(
    tmp_path: Path, project: Path, name: str, role: str
) -> None:
    steps = f"""StepDef("one", "One", "O.", {{Outcome.OK: "look"}}),
    StepDef("look", "Look", "L.", {{Outcome.OK: "last", Outcome.FAIL: "one"}},
        Dispatch("{role}", task="look")),"""
    agent = skill(tmp_path, project, steps, f'params=[Arg("{name}", step="one")]')
    look = agent.follow(agent.open(), **{name: "x"})
    assert agent.finish(look.children[0].command).kind == "done"
