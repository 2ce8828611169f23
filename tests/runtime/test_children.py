"""Sub-agents: each gets its command, reports on its own, and must be accounted for before the parent goes on."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib.blocks import xml
from skills.lib.blocks.command_line import CommandLine
from skills.lib.runtime import Runner
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock, filled
from tests.fixtures.deviations import assert_refused, assert_way_on, edited, recorded_state
from tests.fixtures.skill import install, source_of

Factory = Callable[[str], Agent]


@pytest.fixture
def brood(agent: Factory) -> Agent:
    return agent("brood")


@pytest.fixture
def explore(brood: Agent) -> PrintedBlock:
    return brood.follow(brood.open(), targets=["a", "b & <c>"])


def at_scan(brood: Agent, explore: PrintedBlock) -> PrintedBlock:
    for child in explore.children:
        last = brood.finish(child.command)
    return brood.run_command(last.next)


def test_a_block_shows_the_sub_agents_of_one_moment(brood: Agent, explore: PrintedBlock) -> None:
    runner = Runner(CommandLine(sys.executable, brood.script, str(brood.project)))
    before = runner.ledger.run(explore.run)
    assert before is not None
    command = filled(explore.words("DISPATCH/replace"), {"child": explore.children[0].id})
    replaced = brood.run_command(command)
    shown = PrintedBlock(0, xml.render(runner.show(brood.workflow, before).element))  # as it was read before that
    runner.close()
    assert [child.id for child in shown.children] == [child.id for child in replaced.children]
    assert f"{explore.run}.3" in [child.id for child in shown.children]


@pytest.mark.req("W-04")
def test_one_template_over_recorded_targets(brood: Agent, explore: PrintedBlock) -> None:
    assert [(child.id, child.status, child.target) for child in explore.children] == [
        (f"{explore.run}.1", "pending", "a"),
        (f"{explore.run}.2", "pending", "b & <c>"),
    ]
    task = brood.run_command(explore.children[1].command)
    assert "look at b & <c>" in task.words("DO")
    assert 'All: ["a","b & <c>"]' in task.words("DO")
    assert [spec.name for spec in task.specs] == ["result"]
    assert [rule.text for rule in task.root.iterfind("FORBIDDEN/rule")] == [
        "Start no sub-agents.",
        "Ask the user nothing: a question is part of your result.",
    ]


@pytest.mark.req("W-04")
def test_a_script_is_walked_by_its_sub_agents_with_their_parameters(brood: Agent, explore: PrintedBlock) -> None:
    scan = at_scan(brood, explore)
    assert scan.root.find("DISPATCH").get("agent") == "developer"  # type: ignore[union-attr]
    assert [shlex.split(child.command)[1].rpartition("/")[2] for child in scan.children] == ["part.py", "part.py"]
    look = brood.run_command(scan.children[1].command)
    assert (look.root.get("skill"), look.step, look.context) == ("part", "look", {"what": "two & <b>"})
    judge = brood.follow(look, seen="it is red")
    assert judge.context == {"look.seen": "it is red"}


@pytest.mark.req("W-04")
def test_distinct_tasks_and_the_model_that_the_skill_names(brood: Agent, explore: PrintedBlock) -> None:
    scan = at_scan(brood, explore)
    for child in scan.children:
        last = brood.finish(child.command)
    tasks = brood.run_command(last.next)
    assert tasks.root.find("DISPATCH").get("model") == "small"  # type: ignore[union-attr]
    words = [brood.run_command(child.command).words("DO").strip() for child in tasks.children]
    assert words == ["find it", "mend it"]


@pytest.mark.req("W-11")
def test_the_last_words_of_a_sub_agent_carry_what_comes_next(brood: Agent, explore: PrintedBlock) -> None:
    first = brood.finish(explore.children[0].command)
    assert first.root.find("ORCHESTRATOR").attrib == {"left": "1", "of": "2"}  # type: ignore[union-attr]
    assert first.next == ""
    assert first.words("ORCHESTRATOR") == (
        "This sub-agent is finished. 1 of 2 are left: 0 at work, 1 not begun. Wait for each whose command a sub-agent "
        "was given; what nobody was given is run next."
    )
    last = brood.finish(explore.children[1].command)
    assert last.root.find("ORCHESTRATOR").attrib == {"left": "0", "of": "2"}  # type: ignore[union-attr]
    assert last.next == explore.next
    assert brood.run_command(last.next).step == "scan"


def test_who_has_begun_and_who_has_not_are_counted_apart(tmp_path: Path, project: Path) -> None:
    steps = (
        'StepDef("ask", "Ask", "Ask.", {Outcome.OK: None}, '
        'Dispatch("explore", task="Look at {target}.", targets=["a", "b", "c"]))'
    )
    asking = Agent(install(tmp_path, "apart", source_of("apart", steps)), project)
    first, second, third = asking.open().children
    asking.run_command(second.command)
    assert ". 2 of 3 are left: 1 at work, 1 not begun. " in asking.finish(first.command).words("ORCHESTRATOR")
    asking.run_command(third.command)
    told = asking.finish(second.command).words("ORCHESTRATOR")
    assert told == (
        "This sub-agent is finished. 1 of 3 are not finished: wait for them, start no other. "
        "Without sub-agents, go on with their commands."
    )


def test_a_dispatch_says_what_a_host_without_sub_agents_does(brood: Agent, explore: PrintedBlock) -> None:
    told = "Without sub-agents, follow each command to its end yourself, one by one."
    assert told in explore.words("DISPATCH/how")
    for child in explore.children:
        last = brood.finish(child.command)
    assert brood.run_command(last.next).step == "scan"


@pytest.mark.parametrize("finished", [0, 1])
def test_an_unaccounted_sub_agent_keeps_the_parent(brood: Agent, explore: PrintedBlock, finished: int) -> None:
    for child in explore.children[:finished]:
        brood.finish(child.command)
    refused = assert_refused(brood, explore.next, "unaccounted-child", explore.run)
    assert refused.valid == [child.id for child in explore.children[finished:]]
    shown = assert_way_on(brood, refused)
    for child in shown.children[finished:]:
        last = brood.finish(child.command)
    assert brood.run_command(last.next).step == "scan"


def test_a_sub_agent_that_has_not_begun_has_nothing_to_report(brood: Agent, explore: PrintedBlock) -> None:
    command = explore.children[0].command
    refused = assert_refused(brood, f"{command} --record result='found it'", "skipped-step", f"{explore.run}.1")
    assert "has not begun" in refused.words("WHY")
    assert brood.run_command(refused.next).text == brood.run_command(command).text


def test_a_sub_agent_that_has_begun_is_shown_with_its_step(brood: Agent, explore: PrintedBlock) -> None:
    task = brood.run_command(explore.children[0].command)
    shown = brood.run_command(
        edited(explore.next.partition(" --turn")[0], step="current") + f" --project {brood.project}"
    )
    assert [child.status for child in shown.children] == ["open", "pending"]
    assert brood.run_command(shown.children[0].command).text == task.text


def test_a_lost_sub_agent_is_accounted_for_with_its_reason(brood: Agent, explore: PrintedBlock) -> None:
    brood.finish(explore.children[0].command)
    shown = brood.lose(explore, explore.children[1].id, "the host was restarted")
    assert [(child.status, child.command != "") for child in shown.children] == [("done", False), ("lost", False)]
    scan = brood.run_command(shown.next)
    assert scan.step == "scan"
    assert "reason: the host was restarted" in scan.context["explore.results"]
    assert "status: lost" in scan.context["explore.results"]


@pytest.mark.parametrize("reason", ["''", "FILL_reason", "'  '"])
def test_giving_up_takes_a_reason(brood: Agent, explore: PrintedBlock, reason: str) -> None:
    command = filled(explore.words("DISPATCH/lost"), {"child": explore.children[0].id})
    command = command.replace("'FILL_reason'", reason)
    refused = assert_refused(brood, command, "no-reason", explore.run)
    assert "Say why" in refused.why


def test_giving_up_twice_is_once(brood: Agent, explore: PrintedBlock) -> None:
    first = brood.lose(explore, explore.children[0].id)
    before = recorded_state(brood)
    assert brood.lose(explore, explore.children[0].id).text == first.text
    assert recorded_state(brood) == before


def test_a_lost_sub_agent_that_comes_back_is_stopped(brood: Agent, explore: PrintedBlock) -> None:
    task = brood.run_command(explore.children[0].command)
    brood.lose(explore, explore.children[0].id)
    refused = assert_refused(brood, filled(task.next, {"result": "late"}), "child-lost", task.run)
    assert "stop here" in refused.why
    assert refused.next == ""


@pytest.mark.parametrize("verb", ["lost", "replace"])
def test_a_sub_agent_with_a_script_that_was_given_up_before_it_began_is_stopped(
    brood: Agent, explore: PrintedBlock, verb: str
) -> None:
    scan = at_scan(brood, explore)
    brood.run_command(filled(scan.words(f"DISPATCH/{verb}"), {"child": scan.children[0].id, "reason": "late"}))
    code = {"lost": "child-lost", "replace": "child-replaced"}[verb]
    refused = assert_refused(brood, scan.children[0].command, code, scan.children[0].id)
    assert refused.next == ""


def test_a_replaced_sub_agent_is_refused_and_its_successor_counts(brood: Agent, explore: PrintedBlock) -> None:
    late = brood.run_command(explore.children[0].command)
    command = filled(explore.words("DISPATCH/replace"), {"child": explore.children[0].id})
    shown = brood.run_command(command)
    assert [(child.id, child.target, child.status) for child in shown.children] == [
        (f"{explore.run}.2", "b & <c>", "pending"),
        (f"{explore.run}.3", "a", "pending"),
    ]
    assert brood.run_command(command).text == shown.text
    assert_refused(brood, filled(late.next, {"result": "late"}), "child-replaced", late.run)
    for child in shown.children:
        last = brood.finish(child.command)
    scan = brood.run_command(last.next)
    assert scan.step == "scan"
    assert f"{explore.run}.1" not in scan.context["explore.results"]


def test_a_sub_agent_that_returns_twice_counts_once(brood: Agent, explore: PrintedBlock) -> None:
    task = brood.run_command(explore.children[0].command)
    done = brood.follow(task, result="found")
    before = recorded_state(brood)
    assert brood.follow(task, result="found").text == done.text
    assert recorded_state(brood) == before
    refused = assert_refused(brood, filled(task.next, {"result": "something else"}), "run-ended")
    assert refused.run == task.run


@pytest.mark.parametrize("verb", ["lost", "replace"])
def test_a_finished_sub_agent_cannot_be_given_up(brood: Agent, explore: PrintedBlock, verb: str) -> None:
    brood.finish(explore.children[0].command)
    command = filled(explore.words(f"DISPATCH/{verb}"), {"child": explore.children[0].id, "reason": "slow"})
    refused = assert_refused(brood, command, "child-ended", explore.run)
    assert refused.valid == [explore.children[1].id]


def test_an_unknown_sub_agent_cannot_be_given_up(brood: Agent, explore: PrintedBlock) -> None:
    refused = assert_refused(
        brood, filled(explore.words("DISPATCH/lost"), {"child": "nobody", "reason": "x"}), "unknown-child", explore.run
    )
    assert refused.valid == [child.id for child in explore.children]


def test_sub_agents_that_fail_send_the_parent_back(brood: Agent, explore: PrintedBlock) -> None:
    scan = at_scan(brood, explore)
    brood.finish(scan.children[0].command)
    last = brood.finish(scan.children[1].command, "fail")
    again = brood.run_command(last.next)
    assert (again.step, again.root.get("iteration")) == ("list", "2")


def test_a_lost_sub_agent_counts_as_a_failure_if_there_is_a_route_for_fail(brood: Agent, explore: PrintedBlock) -> None:
    scan = at_scan(brood, explore)
    brood.finish(scan.children[0].command)
    shown = brood.lose(scan, scan.children[1].id)
    assert brood.run_command(shown.next).step == "list"


def test_a_sub_agents_first_step_comes_first(brood: Agent, explore: PrintedBlock) -> None:
    child = explore.children[0]
    command = edited(child.command, step="done") + " --turn 1 --record result=found"
    refused = assert_refused(brood, command, "skipped-step", child.id)
    assert assert_way_on(brood, refused).step == "task"


def test_more_targets_than_the_cap_are_refused(tmp_path: Path, project: Path) -> None:
    steps = (
        'StepDef("a", "A", "Do.", {Outcome.OK: "b"}, requires=[Field("all", "list")]),'
        'StepDef("b", "B", "Do.", {Outcome.OK: None}, Dispatch("explore", targets="a.all", cap=2))'
    )
    capped = Agent(install(tmp_path, "capped", source_of("capped", steps)), project)
    block = capped.open()
    refused = assert_refused(capped, filled(block.next, {"all": ["1", "2", "3"]}), "bad-targets", block.run)
    assert "3 entries, and at most 2" in refused.why
    assert assert_way_on(capped, refused, all=["1", "2"]).step == "b"


def test_children_and_parent_have_their_own_turns(brood: Agent, explore: PrintedBlock) -> None:
    tasks = [brood.run_command(child.command) for child in explore.children]
    assert [task.turn for task in tasks] == [1, 1]
    for task in reversed(tasks):
        last = brood.follow(task, result="found")
    assert brood.state(explore.run).turn == 2
    assert last.next == explore.next


@pytest.mark.req("W-04", "W-10")
def test_a_reviewer_with_a_script_is_shown_the_items_that_it_verifies(tmp_path: Path, project: Path) -> None:
    steps = (
        'StepDef("work", "Work", "Do.", {Outcome.OK: "qr-review"}),'
        '*review_loop("qr", work="work", passed=None, reviewer=Dispatch("quality-reviewer", script="judge.py"))'
    )
    judge = 'StepDef("judge", "Judge", "Judge.", {Outcome.OK: None}, requires=[Field("items", "items")])'
    entry = install(tmp_path, "loop", source_of("loop", steps))
    other = install(tmp_path / "x", "judge", source_of("judge", judge))
    for file in other.parent.glob("*.py"):
        file.rename(entry.parent / file.name)
    agent = Agent(entry, project)
    review = agent.follow(agent.open())
    agent.given["judge.items"] = [
        {"id": "i1", "scope": "", "check": "it holds", "severity": "MUST", "status": "FAIL", "finding": "no"}
    ]
    gate = agent.run_command(agent.finish(review.children[0].command).next)
    again = agent.follow(agent.run_command(gate.next), fixes=["i1 | changed | it holds now"])
    shown = agent.run_command(again.children[0].command)
    assert (shown.root.get("skill"), shown.context) == ("judge", {"items": "- i1 (MUST, whole): it holds"})


def test_parameters_of_a_free_form_dispatch_do_not_stop_its_sub_agents(tmp_path: Path, project: Path) -> None:
    steps = 'StepDef("a", "A", "Do.", {Outcome.OK: None}, Dispatch("explore", task="look", params={"deep": "yes"}))'
    agent = Agent(install(tmp_path, "free", source_of("free", steps)), project)
    block = agent.open()
    assert agent.run_command(agent.finish(block.children[0].command).next).kind == "done"


@pytest.mark.parametrize("verb", ["lost", "replace"])
def test_a_sub_agent_that_is_still_a_placeholder_is_refused(brood: Agent, explore: PrintedBlock, verb: str) -> None:
    refused = assert_refused(
        brood, filled(explore.words(f"DISPATCH/{verb}"), {"reason": "slow"}), "unfilled", explore.run
    )
    assert f"--{verb} still stands as a placeholder" in refused.why
    assert refused.valid == [child.id for child in explore.children]


def test_after_a_wrong_name_the_sub_agents_are_shown(brood: Agent, explore: PrintedBlock) -> None:
    command = filled(explore.words("DISPATCH/lost"), {"child": "nobody", "reason": "x"})
    refused = assert_refused(brood, command, "unknown-child", explore.run)
    assert [child.id for child in assert_way_on(brood, refused).children] == [child.id for child in explore.children]
