"""The very same command again, later or at the same time, has one effect and prints the same block."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock, filled
from skills.lib.testing.follower import InProcess
from skills.lib.testing.walks import every_walk
from skills.lib.workflow.core import Workflow
from tests.fixtures.deviations import assert_refused, assert_way_on, recorded_state
from tests.fixtures.kinds import Kind
from tests.fixtures.skill import install, source_of
from tests.fixtures.strategies import workflows

PYTHON = shlex.quote(sys.executable)

Factory = Callable[[str], Agent]


class Repeating(InProcess):
    """Runs each command again and again, and sees to it that nothing but the first has an effect."""

    def __init__(self, times: int, workflows: dict[str, Workflow] | None = None) -> None:
        super().__init__(workflows)
        self.times = times

    def __call__(self, command: str) -> PrintedBlock:
        first = super().__call__(command)
        for _ in range(self.times - 1):
            again = super().__call__(command)
            assert (again.text, again.exit_code) == (first.text, first.exit_code)
        return first


@pytest.mark.parametrize("name", ["tour", "gated", "brood", "plain"])
def test_each_command_run_ten_times_is_one_transition(agent: Factory, name: str) -> None:
    walker = agent(name)
    walker.call = Repeating(10)
    walk = max(every_walk(walker.workflow), key=lambda walk: len(walk.legs))
    taken = walker.play(walk)
    assert [(one.step, one.target) for one in taken] == [(leg.step, leg.target) for leg in walk.legs]
    recorded_state(walker)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(workflow=workflows())
def test_whatever_the_graph_a_repeat_is_the_same_block(workflow: Workflow, tmp_path: Path) -> None:
    project = tmp_path / os.urandom(4).hex()
    (project / ".lockstep").mkdir(parents=True)
    script = str(tmp_path / "drawn.py")
    walker = Agent(script, project, call=Repeating(2, {script: workflow}))
    for walk in every_walk(workflow)[:3]:
        taken = walker.play(walk)
        assert [(one.step, one.target) for one in taken] == [(leg.step, leg.target) for leg in walk.legs]
    recorded_state(walker)


def at_once(commands: list[str], folder: Path) -> list[subprocess.CompletedProcess[bytes]]:
    """Run the commands in processes that wait for each other at the start."""
    environment = {**os.environ, "LC_ALL": "C"}
    started = [
        subprocess.Popen(
            ["bash", "-c", f"read -r go; {command}"],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for command in commands
    ]
    for process in started:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.flush()
    done = []
    for process in started:
        out, err = process.communicate(timeout=60)
        done.append(subprocess.CompletedProcess(process.args, process.returncode, out, err))
    return done


def test_the_same_command_from_processes_at_once_is_one_transition(agent: Factory, kind: Kind, tmp_path: Path) -> None:
    tour = agent("tour")
    block = tour.open(topic="why it is slow")
    for values in ({"summary": "slow & <odd>"}, {"mode": "full"}, {"confidence": "low"}):
        done = at_once([filled(block.next, values)] * 4, tmp_path)
        assert {(one.returncode, one.stdout, one.stderr) for one in done} == {(0, done[0].stdout, b"")}
        block = type(block)(0, done[0].stdout.decode())
        assert block.exit_code == 0
    assert [one.target for one in tour.taken(block.run)] == ["plan", "dig", "dig"]


def test_opening_from_processes_at_once_is_one_run(agent: Factory, kind: Kind, tmp_path: Path) -> None:
    tour = agent("tour")
    for at in range(4):
        command = f"{tour_start(tour)} --topic 'why number {at} is slow'"
        done = at_once([command] * 4, tmp_path)
        assert [(one.returncode, one.stderr) for one in done] == [(0, b"")] * 4
        assert len({one.stdout for one in done}) == 1
    assert len(recorded_state(tour)["runs"]) == 4


def tour_start(tour: Agent) -> str:
    return f"{PYTHON} {tour.script} --step 1 --project {tour.project}"


def test_the_first_runs_of_a_project_can_open_at_once(
    agent: Factory, kind: Kind, project: Path, tmp_path: Path
) -> None:
    tour = agent("tour")
    commands = [f"{tour_start(tour)} --topic 'question {at}'" for at in range(6)]
    done = at_once(commands, tmp_path)
    assert [(one.returncode, one.stderr) for one in done] == [(0, b"")] * 6
    assert len(recorded_state(tour)["runs"]) == 6


def test_children_are_created_once(agent: Factory, kind: Kind, tmp_path: Path) -> None:
    brood = agent("brood")
    block = brood.open()
    done = at_once([filled(block.next, {"targets": ["a", "b"]})] * 3, tmp_path)
    assert len({one.stdout for one in done}) == 1
    assert sorted(recorded_state(brood)["runs"]) == sorted([block.run, f"{block.run}.1", f"{block.run}.2"])


def test_opening_again_shows_the_same_block(agent: Factory, kind: Kind) -> None:
    tour = agent("tour")
    first = tour.open(topic="why it is slow")
    assert tour.open(topic="why it is slow").text == first.text
    assert len(recorded_state(tour)["runs"]) == 1


def test_opening_a_run_that_begins_with_sub_agents_again_shows_the_same_block(tmp_path: Path, project: Path) -> None:
    steps = 'StepDef("send", "Send", "Send.", {Outcome.OK: None}, Dispatch("explore", task="look"))'
    swarm = Agent(install(tmp_path, "swarm", source_of("swarm", steps)), project)
    first = swarm.open()
    again = swarm.open()
    assert again.text == first.text
    assert len(recorded_state(swarm)["runs"]) == 2


def test_another_question_opens_another_run_and_names_the_first(agent: Factory) -> None:
    tour = agent("tour")
    first = tour.open(topic="why it is slow")
    second = tour.open(topic="why it is fast")
    assert second.run != first.run
    assert len(second.notices) == 1
    assert first.run in second.notices[0]
    resume = second.words("NOTICE/command")
    assert tour.run_command(resume).text == first.text


def test_opening_again_after_going_on_is_refused_and_leads_back(agent: Factory, kind: Kind) -> None:
    tour = agent("tour")
    plan = tour.follow(tour.open(topic="why it is slow"), summary="slow")
    refused = assert_refused(tour, f"{tour_start(tour)} --topic 'why it is slow'", "already-open", plan.run)
    assert assert_way_on(tour, refused).text == plan.text


def test_another_run_of_the_same_question_takes_new(agent: Factory) -> None:
    tour = agent("tour")
    plan = tour.follow(tour.open(topic="why it is slow"), summary="slow")
    fresh = tour.open("--new", topic="why it is slow")
    assert (fresh.step, fresh.turn) == ("begin", 1)
    assert fresh.run != plan.run
    assert tour.run_command(f"{fresh.next} --new").exit_code == 2


def test_a_lost_run_id_is_found_again_by_beginning_again(agent: Factory) -> None:
    """The agent forgot everything but the skill: it begins, and is shown its step."""
    tour = agent("tour")
    asked = tour.follow(tour.follow(tour.follow(tour.open(topic="why"), summary="s"), mode="quick"), outcome="skip")
    refused = tour.open(topic="why")
    assert tour.run_command(refused.next).text == asked.text


def test_the_last_command_of_a_run_repeats_its_end(agent: Factory, kind: Kind) -> None:
    tour = agent("tour")
    walked = tour.follow(tour.follow(tour.follow(tour.open(topic="why"), summary="s"), mode="quick"), outcome="skip")
    close = tour.follow(walked, answer="yes")
    done = tour.follow(close, report="all of it")
    assert done.result == {"close.report": "all of it"}
    assert tour.follow(close, report="all of it").text == done.text


def test_what_a_repeat_shows_keeps_the_order_of_a_json_object(tmp_path: Path, project: Path) -> None:
    steps = (
        'StepDef("a", "A", "Do.", {Outcome.OK: "b"}, requires=[Field("v", "json")]),'
        'StepDef("b", "B", "Do.", {Outcome.OK: None}, needs=["a.v"])'
    )
    walker = Agent(install(tmp_path, "order", source_of("order", steps)), project)
    command = filled(walker.open().next, {"v": {"zebra": 1, "ant": {"y": 2, "b": 3}}})
    first = walker.run_command(command)
    assert first.context == {"a.v": '{"zebra": 1, "ant": {"y": 2, "b": 3}}'}
    assert walker.run_command(command).text == first.text
