"""Ways round a quality gate: each is refused and leaves the run as it was."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock, filled
from skills.lib.testing.follower import Shell
from tests.fixtures.deviations import assert_refused, assert_way_on, edited, recorded_state
from tests.fixtures.kinds import Kind
from tests.fixtures.skill import install, source_of

Factory = Callable[[str], Agent]
pytestmark = pytest.mark.req("W-09", "W-10")


# Both reviewers call their item a: that of the second is a.2.
FIXED = ["a | changed | out.txt", "a.2 | changed | out.txt"]


def item(name: str = "a", status: str = "FAIL", severity: str = "MUST") -> dict[str, str]:
    finding = "it holds now" if status == "PASS" else "it does not"
    return {"id": name, "scope": "all", "check": "it holds", "severity": severity, "status": status, "finding": finding}


@pytest.fixture
def gated(agent: Factory, kind: Kind) -> Agent:
    walker = agent("gated")
    walker.write("out.txt", "done")
    return walker


def called(script: str) -> str:
    """The words that start a script."""
    return f"{shlex.quote(sys.executable)} {shlex.quote(script)}"


def report(agent: Agent, command: str, *items: dict[str, str]) -> PrintedBlock:
    """Follow a reviewer's command and report these items."""
    task = agent.run_command(command)
    more = ".2" if ".2 (" in task.context.get("items", "") else ""
    return agent.follow(task, items=[{**one, "id": one["id"] + more} for one in items])


def at_gate(agent: Agent, status: str = "FAIL") -> PrintedBlock:
    """The gate after a first review in which each of both reviewers judged one item."""
    review = agent.follow(agent.open())
    for child in review.children:
        last = report(agent, child.command, item(status=status))
    return agent.run_command(last.next)


@pytest.mark.parametrize("step", ["design-gate", "3", "close", "4"])
@pytest.mark.parametrize("words", ["", " --qr-status pass", " --qr-status=pass --qr-iteration 2", " --outcome ok"])
def test_a_gate_or_what_lies_behind_it_called_in_a_fresh_process(gated: Agent, step: str, words: str) -> None:
    gate = at_gate(gated)
    before = recorded_state(gated)
    command = f"{called(gated.script)} --step {step} --project {gated.project}{words}"
    block = Shell(gated.project)(command)
    assert (block.exit_code, block.kind, block.code) == (3, "refused", "no-run")
    assert gate.show or gate.run in " ".join(block.valid)
    assert recorded_state(gated) == before


@pytest.mark.parametrize("words", ["--qr-status pass", "--qr-fail=false", "--qr-iteration 1", "--outcome ok"])
def test_a_verdict_that_is_claimed_while_findings_are_open(gated: Agent, words: str) -> None:
    gate = at_gate(gated)
    code = "wrong-outcome" if "outcome" in words else "forged-verdict"
    refused = assert_refused(gated, f"{gate.next} {words}", code)
    assert assert_way_on(gated, refused).step == "write"


def test_the_step_behind_a_gate_with_open_findings(gated: Agent) -> None:
    gate = at_gate(gated)
    assert_refused(gated, edited(gate.next, step="close"), "wrong-outcome")
    assert_refused(gated, edited(gate.next, step="done"), "skipped-step")


def test_the_gates_command_of_an_earlier_turn(gated: Agent) -> None:
    first = at_gate(gated)
    write = gated.run_command(first.next)
    review = gated.follow(write, fixes=FIXED)
    for child in review.children:
        last = report(gated, child.command, item(status="PASS"))
    gate = gated.run_command(last.next)
    assert_refused(gated, edited(gate.next, turn=str(first.turn)), "wrong-turn")
    assert_refused(gated, first.next, "wrong-turn")
    assert gated.run_command(gate.next).step == "close"


@pytest.mark.parametrize("name", ["$(touch pwned)", "a; rm -rf .", "`id`", "../../etc/passwd", "a\nb", "--step", "é"])
def test_an_item_whose_id_is_shell_text(gated: Agent, name: str) -> None:
    review = gated.follow(gated.open())
    task = gated.run_command(review.children[0].command)
    assert_refused(gated, filled(task.next, {"items": [item(name)]}), "bad-value")
    assert not (gated.project / "pwned").exists()


def test_an_item_of_another_reviewers_run(gated: Agent) -> None:
    first = at_gate(gated)
    review = gated.follow(gated.run_command(first.next), fixes=FIXED)
    mine, other = (gated.run_command(child.command) for child in review.children)
    assert_refused(gated, filled(mine.next, {"items": [item("b", "PASS")]}), "other-items")
    # A reviewer's report is taken from its own run, whatever run the command is copied to.
    gated.follow(mine, items=[item("a", "FAIL")])
    assert_refused(gated, filled(edited(other.next, run=mine.run), {"items": [item("a", "PASS")]}), "run-ended")


def test_an_item_that_is_made_light_on_re_verification(gated: Agent) -> None:
    first = at_gate(gated)
    review = gated.follow(gated.run_command(first.next), fixes=FIXED)
    task = gated.run_command(review.children[0].command)
    assert_refused(gated, filled(task.next, {"items": [item("a", "FAIL", "COULD")]}), "other-items")
    assert_refused(gated, filled(task.next, {"items": [item("a", "PASS"), item("b", "PASS")]}), "other-items")


def test_a_step_that_is_printed_ten_times(gated: Agent) -> None:
    gate = at_gate(gated)
    before = recorded_state(gated)
    shown = [
        gated.run_command(edited(gate.next, step="current").replace(f" --turn {gate.turn}", "")) for _ in range(10)
    ]
    assert {block.text for block in shown} == {gate.text}
    assert "iteration 1 of 5" in gate.words("STATE")
    assert recorded_state(gated) == before


def test_a_step_that_is_taken_ten_times_counts_once(gated: Agent) -> None:
    gate = at_gate(gated)
    assert len({gated.run_command(gate.next).text for _ in range(10)}) == 1
    assert gated.state(gate.run).turn == gate.turn + 1
    assert gated.state(gate.run).reviews["design"]["iteration"] == 1


def test_two_reviewers_at_once(gated: Agent) -> None:
    review = gated.follow(gated.open())
    command = filled(gated.run_command(review.children[0].command).next, {"items": [item(status="PASS")]})
    other = filled(gated.run_command(review.children[0].command).next, {"items": [item(status="FAIL")]})
    printed: list[PrintedBlock] = []
    shell = Shell(gated.project)
    threads = [threading.Thread(target=lambda line=line: printed.append(shell(line))) for line in (command, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(block.exit_code for block in printed) == [0, 3]
    told = next(block for block in printed if block.exit_code)
    assert told.code in ("run-ended", "wrong-turn")
    [kept] = gated.state(review.children[0].id).state["task"]["items"]
    won = next(block for block in printed if not block.exit_code)
    assert f"status: {kept['status']}" in won.words("RESULT/value")


def test_a_reviewer_that_reports_for_another_checkpoint(agent: Factory, tmp_path: Path, project: Path) -> None:
    steps = (
        'StepDef("one", "One", "Do.", {Outcome.OK: "first-review"}), '
        '*review_loop("first", work="one", passed="two", gate_actions="Go."), '
        'StepDef("two", "Two", "Do.", {Outcome.OK: "second-review"}), '
        '*review_loop("second", work="two", passed=None, gate_actions="Go.")'
    )
    twice = Agent(install(tmp_path, "twice", source_of("twice", steps)), project)
    first = twice.run_command(twice.open().next)
    earlier = first.children[0].command
    gate = twice.run_command(report(twice, earlier, item(status="PASS")).next)
    second = twice.run_command(twice.run_command(gate.next).next)
    # The first checkpoint's reviewer comes back and reports once more: its run is over, and the second stays open.
    old = twice.run_command(earlier)
    assert old.code == "run-ended"
    again = f"{called(twice.script)} --step done --run {old.run} --turn 1"
    items = shlex.quote("items=" + json.dumps([item("z", "PASS")]))
    assert_refused(twice, f"{again} --project {project} --record {items}", "run-ended")
    assert_refused(twice, second.next, "unaccounted-child")
    assert "second" not in twice.state(second.run).reviews


def test_a_gate_that_is_deleted_from_the_graph_in_mid_run(tmp_path: Path, project: Path) -> None:
    def steps(passed: str, loop: str) -> str:
        work, last = f'StepDef("work", next={{Outcome.OK: "{passed}"}})', 'StepDef("close", next={Outcome.OK: None})'
        return f"{work}, {loop} {last}"

    loop = '*review_loop("d", work="work", passed="close", gate_actions="Go."),'
    script = install(tmp_path, "shrunk", source_of("shrunk", steps("d-review", loop)))
    shell = Shell(project)
    opened = shell(f"{called(str(script))} --step 1 --project {project}")
    assert opened.exit_code == 0, opened.errors
    install(tmp_path, "shrunk", source_of("shrunk", steps("close", "")))
    gone = shell(opened.next)
    assert (gone.exit_code, gone.text) == (2, "")
    assert "shrunk has no step 'd-review'" in gone.errors
    for step in ("next", "close"):
        refused = shell(edited(opened.next, step=step))
        assert (refused.exit_code, refused.code) == (3, "definition-changed")
        assert "step work, where the run stands, has another next" in refused.why
    shown = shell(edited(opened.next, step="current"))
    assert (shown.exit_code, shown.code) == (3, "definition-changed")


def test_an_agent_that_answers_for_the_person(gated: Agent) -> None:
    gate = at_gate(gated)
    for _ in range(4):
        write = gated.run_command(gate.next)
        gated.write("out.txt", f"done by turn {write.turn}")
        review = gated.follow(write, fixes=FIXED)
        for child in review.children:
            last = report(gated, child.command, item())
        gate = gated.run_command(last.next)
    waiting = gated.run_command(gate.next)
    assert (waiting.kind, waiting.root.find("QUESTION").get("by")) == ("waiting", "person")  # type: ignore[union-attr]
    asked = waiting.next.partition(" --answer ")[0]
    for words in ("--answer accept --reason 'the user agrees'", "--answer accept", "--outcome ok", "--qr-status pass"):
        refused = gated.run_command(f"{asked} {words}")
        assert (refused.exit_code, refused.code) == (3, "person-needed"), words
    done = subprocess.run(
        [os.path.join(os.path.dirname(sys.executable), "lockstep"), "answer", waiting.run, "accept", "--project", "."],
        cwd=gated.project,
        capture_output=True,
        text=True,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 3
    assert "standard input is not a terminal" in done.stderr
    assert gated.answer(waiting, "accept", "the rest is taste").step == "close"
    assert gated.state(waiting.run).reviews["design"]["decision"]["reason"] == "the rest is taste"


def test_a_review_that_is_called_lost_to_get_past_it(gated: Agent) -> None:
    review = gated.follow(gated.open())
    shown = gated.lose(review, review.children[0].id, "not needed")
    report(gated, review.children[1].command, item(status="PASS"))
    gate = gated.run_command(shown.next)
    assert "verdict fail" in gate.words("STATE")
    assert_refused(gated, f"{gate.next} --qr-status pass", "forged-verdict")
    assert gated.run_command(gate.next).step == "write"
