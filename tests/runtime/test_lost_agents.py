"""Agents that lost the thread: a refusal leads each back to its own run, and to nobody else's."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skills.lib import paths
from skills.lib.ledger import Ledger
from skills.lib.model.run import Run
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import filled
from tests.fixtures.deviations import assert_refused, assert_way_on, edited, recorded_state
from tests.fixtures.skill import install, source_of

LAST = 'StepDef("last", "Last", "Stop.", {Outcome.OK: None})'
SENDS = """
StepDef("first", "First", "Begin.", {Outcome.OK: "send"}),
StepDef("send", "Send", "Send.", {Outcome.OK: "last"}, Dispatch("explore", task="{target}", targets=["one a", "two"])),
"""
Skill = Callable[..., Agent]


@pytest.fixture
def skill(tmp_path: Path, project: Path) -> Skill:
    """An agent of a skill ``lost`` of these steps and ``last``; ``part`` are the steps of a script beside it."""

    def make(steps: str, more: str = "", part: str = "", params: str = "", before: str = "") -> Agent:
        source = source_of("lost", steps + LAST, more).replace("WORKFLOW = ", before + "\nWORKFLOW = ", 1)
        script = install(tmp_path, "lost", source)
        if part:
            folder = install(tmp_path / "parts", "part", source_of("part", part, params)).parent
            for file in folder.glob("part*.py"):
                file.rename(script.parent / file.name)
        return Agent(script, project)

    return make


def without_run(command: str) -> str:
    return re.sub(r" --run \S+", "", command)


def scripted(params: str = "{}") -> str:
    return f"""
StepDef("first", "First", "Begin.", {{Outcome.OK: "send"}}),
StepDef("send", "Send", "S.", {{Outcome.OK: "last"}}, Dispatch("explore", script="part.py", params={params})),
"""


@pytest.mark.parametrize("slip", ["forgot", "mistyped"])
def test_a_sub_agent_that_lost_its_run_is_shown_the_sub_agents_and_sent_nowhere(skill: Skill, slip: str) -> None:
    agent = skill(SENDS)
    block = agent.follow(agent.open())
    child = agent.run_command(block.children[0].command)
    command = filled(child.next, {"result": "seen"})
    command = without_run(command) if slip == "forgot" else edited(command, run=f"{block.run}.7")
    refused = assert_refused(agent, command, "no-run" if slip == "forgot" else "unknown-run")
    assert refused.next == ""
    one, two, parent, opening = refused.valid
    assert one.endswith(f"  # sub-agent {block.run}.1, open: one a")
    assert two.endswith(f"  # sub-agent {block.run}.2, pending: two")
    assert agent.run_command(one.partition("  #")[0]).text == child.text
    assert agent.run_command(two.partition("  #")[0]).step == "task"
    assert shlex.split(parent)[2:6] == ["--step", "current", "--run", block.run]
    assert "--step 1" in opening


def test_a_sub_agent_with_a_script_that_lost_its_run_is_not_led_to_open_another(skill: Skill) -> None:
    look = 'StepDef("look", "Look", "L.", {Outcome.OK: None}, needs=["all"], requires=[Field("x")])'
    agent = skill(scripted('{"all": "z"}'), part=look, params='params=[Arg("all")]')
    block = agent.follow(agent.open())
    child = agent.run_command(block.children[0].command)
    refused = assert_refused(agent, without_run(filled(child.next, {"x": "y"})), "no-run")
    assert refused.next == ""
    assert refused.valid[0].endswith(f"# sub-agent {child.run}, open")
    assert refused.valid[-1].endswith("--all 'FILL_all'")


def test_a_sub_agent_that_begins_anew_is_shown_the_sub_agents_at_work(skill: Skill) -> None:
    look = 'StepDef("look", "Look", "L.", {Outcome.OK: None}, needs=["all"], requires=[Field("x")])'
    agent = skill(scripted('{"all": "z"}'), part=look, params='params=[Arg("all")]')
    block = agent.follow(agent.open())
    child = agent.run_command(block.children[0].command)
    begin = re.sub(r" --step .*? --project", " --step 1 --project", child.next).partition(" --record")[0]
    refused = assert_refused(agent, begin, "no-run")
    assert (refused.next, "--all is missing" in refused.why) == ("", True)
    assert agent.run_command(refused.valid[0].partition("  #")[0]).text == child.text
    assert refused.valid[-1].endswith("--all 'FILL_all'")
    agent.follow(child, x="y")
    again = agent.run_command(begin)
    assert (again.code, again.next.endswith("--all 'FILL_all'")) == ("missing-parameter", True)


def test_once_its_sub_agents_are_done_a_lost_orchestrator_is_led_to_its_run(skill: Skill) -> None:
    agent = skill(SENDS)
    block = agent.follow(agent.open())
    for child in block.children:
        agent.finish(child.command)
    refused = assert_refused(agent, without_run(block.next), "no-run")
    assert assert_way_on(agent, refused).run == block.run


def test_an_opening_whose_targets_do_not_do_is_filled_in_anew(skill: Skill) -> None:
    found = 'def found(ctx):\n    return [word for word in ctx.workflow_params["areas"] if word != "x"]\n'
    steps = 'StepDef("look", "Look", "L.", {Outcome.OK: "last"}, Dispatch("explore", task="{target}", targets=found)),'
    agent = skill(steps, 'params=[Arg("areas", "list")]', before=found)
    refused = agent.open(areas=["x"])
    assert (refused.code, refused.next.endswith(" --areas 'FILL_areas'")) == ("bad-targets", True)
    assert assert_way_on(agent, refused, areas=["y"]).step == "look"


def test_a_refused_opening_of_another_run_still_opens_another(skill: Skill) -> None:
    steps = 'StepDef("one", "One", "O.", {Outcome.OK: "two"}), StepDef("two", "Two", "T.", {Outcome.OK: "last"}),'
    agent = skill(steps, 'params=[Arg("topic"), Arg("level", choices=["a", "b"])]')
    first = agent.open(topic="t", level="a")
    agent.follow(first)
    refused = agent.open("--new", topic="t", level="z")
    assert refused.code == "bad-value"
    assert assert_way_on(agent, refused, level="a").run != first.run


@pytest.mark.parametrize("text", ["'" * 1000, "&" * 1000, "it's " * 190, "]]>" * 300, "a\rb" * 300])
def test_the_words_of_a_refusal_are_bounded_and_the_opening_is_whole(skill: Skill, text: str) -> None:
    agent = skill("", 'params=[Arg("topic"), Arg("two"), Arg("three"), Arg("four")]')
    agent.open()
    given = ["--topic", text, "--two", text, "--three", text, "--project", str(agent.project)]
    for words in (["--step", "current", "--four", text], ["--step", "1"], ["--step", "next", "--run", text]):
        refused = agent.run_command(shlex.join([sys.executable, agent.script, *words, *given]))
        assert refused.exit_code == 3
        assert len(refused.text) < 10_000
        assert "To open another" not in refused.why
        opening = refused.valid[-1] if refused.valid else refused.next
        assert "--step 1" in opening
        assert "--topic" in shlex.split(opening)


def test_many_open_runs_leave_room_for_the_opening(skill: Skill) -> None:
    agent = skill("", 'params=[Arg("t")]')
    for number in range(30):
        agent.open(t=f"t{number}")
    refused = agent.run_command(
        shlex.join([sys.executable, agent.script, "--step", "current"]) + f" --project {agent.project}"
    )
    assert "--step 1" in refused.valid[-1]
    assert "is not shown here" in refused.why
    assert len(refused.text) < 10_000


def test_a_sub_agent_whose_definition_changed_is_replaced(skill: Skill) -> None:
    part = 'StepDef("look", "Look", "L.", {Outcome.OK: None}, requires=[Field("x")])'
    agent = skill(scripted(), part=part)
    block = agent.follow(agent.open())
    child = agent.run_command(block.children[0].command)
    module = Path(agent.script).with_name("part_workflow.py")
    module.write_text(module.read_text(encoding="utf-8").replace('Field("x")', 'Field("y")'), encoding="utf-8")
    sys.modules.pop("lockstep_skill.lost.scripts.part_workflow")
    refused = assert_refused(agent, filled(child.next, {"x": "1"}), "definition-changed", child.run)
    assert (refused.next, refused.show) == ("", "")
    assert f"--replace {child.run}" in refused.why
    block = agent.run_command(filled(block.words("DISPATCH/replace"), {"child": child.run}))
    assert assert_way_on(agent, agent.finish(block.children[-1].command)).step == "last"


def test_a_run_whose_definition_changed_begins_anew_with_its_parameters(skill: Skill) -> None:
    params = 'params=[Arg("topic"), Arg("areas", "list"), Arg("deep", "bool", default=False), Arg("api_token")]'
    agent = skill('StepDef("one", "One", "O.", {Outcome.OK: "last"}, requires=[Field("x")]),', params)
    block = agent.open(topic="it's", areas=["a", "b c"], api_token="sesame")
    module = Path(agent.script).with_name("lost_workflow.py")
    module.write_text(module.read_text(encoding="utf-8").replace('Field("x")', 'Field("y")'), encoding="utf-8")
    sys.modules.pop("lockstep_skill.lost.scripts.lost_workflow")
    refused = assert_refused(agent, filled(block.next, {"x": "1"}), "definition-changed", block.run)
    assert "--step current" in refused.show
    fresh = assert_way_on(agent, refused, api_token="sesame")
    assert fresh.run != block.run
    assert agent.state(fresh.run).params == agent.state(block.run).params


BELOW = (
    'StepDef("look", "Look", "L.", {Outcome.OK: "sub"}),'
    'StepDef("sub", "Sub", "S.", {Outcome.OK: None}, Dispatch("explore", tasks=["x", "y"]))'
)


@pytest.mark.parametrize("verb", ["lost", "replace"])
def test_who_gives_a_sub_agent_up_gives_up_those_below_it(skill: Skill, verb: str) -> None:
    agent = skill(scripted(), part=BELOW)
    block = agent.follow(agent.open())
    child = agent.follow(agent.run_command(block.children[0].command))
    agent.run_command(child.children[0].command)
    command = filled(block.words(f"DISPATCH/{verb}"), {"child": child.run, "reason": "it hangs"})
    assert agent.run_command(command).exit_code == 0
    runs = recorded_state(agent)["runs"]
    assert [runs[f"{child.run}.{number}"]["status"] for number in (1, 2)] == ["abandoned", "abandoned"]
    assert os.listdir(os.path.join(paths.home(str(agent.project)), "open")) == [block.run]
    assert "run-ended" in [agent.run_command(below.command).code for below in child.children]
    for below in child.children:
        shown = agent.run_command(below.command)
        assert shown.kind in ("done", "refused")
        assert agent.state(below.id).status == "abandoned"


def test_who_was_started_just_before_its_own_starter_was_given_up_does_not_begin(
    skill: Skill, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = skill(scripted(), part=BELOW)
    block = agent.follow(agent.open())
    child = agent.run_command(block.children[0].command)
    commit, meanwhile = Ledger.commit, [child.next]

    def started_between(*words: Any, **named: Any) -> Run:
        if meanwhile:
            assert agent.run_command(meanwhile.pop()).step == "sub"
        return commit(*words, **named)

    monkeypatch.setattr(Ledger, "commit", started_between)
    agent.lose(block, child.run)
    below = block.children[0].command.replace(child.run, f"{child.run}.1")
    refused = assert_refused(agent, below, "run-ended", f"{child.run}.1")
    assert "is lost: stop here" in refused.why
