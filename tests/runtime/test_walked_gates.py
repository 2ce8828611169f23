"""Gates, and sub-agents' steps with nothing to hand out, are walked through without a command of their own."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from skills.lib import paths
from skills.lib.engine import walking
from skills.lib.ledger import Ledger
from skills.lib.model.run import Run
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock, filled, placeholders
from skills.lib.validation import registration
from tests.extent import extent
from tests.fixtures.agents import Skill
from tests.fixtures.deviations import assert_refused, edited, recorded_state
from tests.fixtures.processes import race

Factory = Callable[[str], Agent]
pytestmark = pytest.mark.req("W-09", "W-10")

END = 'StepDef("last", "Last", "Stop.", {Outcome.OK: None})'
WORK = 'StepDef("work", "Work", "Work.", {Outcome.OK: "d-review"})'


def item(status: str = "FAIL", severity: str = "MUST") -> dict[str, str]:
    finding = "it holds now" if status == "PASS" else "it does not"
    told = {"id": "a", "scope": "all", "check": "it holds", "severity": severity, "status": status, "finding": finding}
    return {**told, "place": "out.txt:1"}


@pytest.fixture
def walked(agent: Factory) -> Agent:
    walker = agent("walked")
    walker.write("out.txt", "one\n")
    return walker


def before_gate(agent: Agent, status: str, block: PrintedBlock | None = None) -> PrintedBlock:
    """The last block of the one reviewer, with the command that leaves the review."""
    review = agent.follow(block or agent.open())
    [child] = review.children
    return agent.follow(agent.run_command(child.command), items=[item(status)])


def trail(agent: Agent, run: str) -> list[tuple[str, int, str, Any, Any]]:
    """The moves of a run: kind, turn, actor, from, to."""
    events = [event for event in agent.events(run) if event.kind != "refused"]
    return [(one.kind, one.turn, one.actor, one.detail.get("from"), one.detail.get("to")) for one in events]


def test_one_command_leaves_the_review_and_its_failed_gate(walked: Agent) -> None:
    work = walked.run_command(before_gate(walked, "FAIL").next)
    assert (work.step, work.turn, work.root.get("iteration")) == ("write", 4, "2")
    assert "Gate draft-gate failed. Review of draft: iteration 1 of 2, reviewed, verdict fail." in work.words("STATE")
    assert "a (MUST) it holds: it does not [out.txt:1]" in work.context["draft.findings"]
    assert trail(walked, work.run)[1:] == [
        ("moved", 2, "agent", "write", "draft-review"),
        ("moved", 3, "agent", "draft-review", "draft-gate"),
        ("moved", 4, "script", "draft-gate", "write"),
    ]
    recorded_state(walked)


def test_a_passed_gate_and_sub_agents_that_there_are_none_of_are_walked_through(walked: Agent) -> None:
    review = walked.run_command(before_gate(walked, "PASS").next)
    assert (review.step, review.turn, len(review.children)) == ("final-review", 5, 1)
    said = "Gate draft-gate passed. Review of draft: iteration 1 of 2, reviewed, verdict pass."
    assert f"{said} parts was skipped: it had nothing to hand out. Review of final: iteration 1" in review.words(
        "STATE"
    )
    [final] = review.children
    end = walked.follow(walked.run_command(final.command), items=[item("PASS")])
    waiting = walked.run_command(end.next)
    assert (waiting.kind, waiting.step, waiting.turn) == ("waiting", "ask", 7)
    assert "Gate final-gate passed." in waiting.words("STATE")
    assert walked.follow(walked.follow(waiting, answer="yes"), summary="s").root.get("status") == "done"


def test_sub_agents_that_there_are_are_not_walked_past(walked: Agent) -> None:
    review = walked.follow(walked.open(), parts=["head", "tail"])
    end = walked.follow(walked.run_command(review.children[0].command), items=[item("PASS")])
    parts = walked.run_command(end.next)
    assert (parts.step, [child.target for child in parts.children]) == ("parts", ["head", "tail"])


@pytest.mark.parametrize("status", ["PASS", "FAIL"])
def test_a_retry_is_one_effect_and_prints_the_same_block(walked: Agent, status: str) -> None:
    command = before_gate(walked, status).next
    first = walked.run_command(command)
    before = recorded_state(walked)
    assert {walked.run_command(command).text for _ in range(5)} == {walked.show(first.run).text}
    assert recorded_state(walked) == before
    assert walked.state(first.run).last["turn"] == 2


def test_another_command_of_a_turn_that_was_walked_through_is_refused(walked: Agent) -> None:
    command = before_gate(walked, "FAIL").next
    work = walked.run_command(command)
    for turn in ("2", "3"):
        refused = assert_refused(walked, edited(command, step="next", turn=turn), "wrong-turn", work.run)
        assert "the run is at turn 4" in refused.why


@pytest.mark.parametrize("words", ["--qr-status pass", "--qr-fail=false", "--outcome ok", "--qr-iteration 1"])
def test_a_verdict_that_is_claimed_on_the_way_into_a_gate(walked: Agent, words: str) -> None:
    end = before_gate(walked, "FAIL")
    before = recorded_state(walked)
    block = walked.run_command(f"{end.next} {words}")
    if "qr-status" in words:
        assert block.code == "forged-verdict"
    elif block.exit_code:
        assert recorded_state(walked) == before
    else:
        assert block.step == "write"


@pytest.mark.parametrize("step", ["parts", "final-review", "final-gate", "ask", "close", "done"])
def test_nothing_behind_the_gate_can_be_named_before_it(walked: Agent, step: str) -> None:
    end = before_gate(walked, "PASS")
    assert_refused(walked, edited(end.next, step=step), "skipped-step")


def test_a_gate_at_its_bound_puts_its_question(walked: Agent) -> None:
    work = walked.run_command(before_gate(walked, "FAIL").next)
    walked.write("out.txt", "two\n")
    command = before_gate(walked, "FAIL", work).next
    waiting = walked.run_command(command)
    assert (waiting.kind, waiting.step, waiting.turn) == ("waiting", "draft-gate", 7)
    assert "draft was reviewed 2 times and these findings are open" in waiting.words("QUESTION")
    assert walked.run_command(command).text == waiting.text
    onward = walked.answer(waiting, "accept", "known, and harmless here")
    assert (onward.step, onward.turn) == ("final-review", 9)
    assert "parts was skipped" in onward.words("STATE")
    [answered] = [event for event in walked.events(onward.run) if event.detail.get("answer")]
    assert (answered.actor, answered.detail["to"]) == ("person (terminal)", "parts")
    assert trail(walked, onward.run)[-1] == ("moved", 9, "script", "parts", "final-review")


def test_a_verdict_that_fell_with_its_files_leads_back_to_the_review(walked: Agent) -> None:
    end = before_gate(walked, "PASS")
    walked.write("out.txt", "two\n")
    again = walked.run_command(end.next)
    assert (again.step, again.turn, len(again.children)) == ("draft-review", 4, 1)
    assert "Gate draft-gate was not passed: files changed since the review." in again.words("STATE")


def test_the_block_after_an_answer_and_a_walked_step_is_followed_by_a_full_one(skill: Skill) -> None:
    """Who reports after an answer at a terminal may not have seen the block that came of it."""
    agent = skill(
        'StepDef("begin", "Begin", "Begin.", {Outcome.OK: "ask"}, requires=[Field("parts", "list", required=False)]),'
        'StepDef("ask", "Ask", "", {Outcome.OK: "look"}, person("Go?", {"yes": Outcome.OK}, at_terminal=True)),'
        'StepDef("look", "Look", "Look.", {Outcome.SKIP: "tell", Outcome.OK: "tell"},'
        ' Dispatch("explore", task="{target}", targets="begin.parts")),'
        'StepDef("tell", "Tell", "Tell.", {Outcome.OK: "more"}, needs=["topic"], requires=[Field("said")]),'
        'StepDef("more", "More", "More.", {Outcome.OK: None}, needs=["topic"])',
        more='params=[Arg("topic")]',
    )
    tell = agent.answer(agent.follow(agent.open(topic="why " * 100)), "yes")
    assert (tell.step, tell.turn) == ("tell", 4)
    more = agent.follow(tell, said="s")
    assert (more.step, list(more.left_out)) == ("more", [])


def test_a_gate_with_something_to_do_has_a_command_of_its_own(skill: Skill) -> None:
    agent = skill(f'{WORK}, *review_loop("d", work="work", passed="last", gate_actions="Tell the user."), {END}')
    gate = agent.run_command(before_gate(agent, "PASS").next)
    assert (gate.step, agent.run_command(gate.next).step) == ("d-gate", "last")


@pytest.mark.parametrize(
    "more", ['requires=[Artifact("out.txt")]', 'requires=[Field("note", required=False)]', 'repeat="Look again."']
)
def test_a_gate_that_wants_something_has_a_command_of_its_own(skill: Skill, more: str) -> None:
    agent = skill(
        f'{WORK}, StepDef("d-review", "Review", "Review.", {{Outcome.OK: "gate"}},'
        ' Dispatch("quality-reviewer", task="Review.", checkpoint="d")),'
        f' StepDef("gate", "Gate", "", {{Outcome.OK: "last", Outcome.FAIL: "work"}}, Gate("d"), {more}), {END}'
    )
    gate = agent.run_command(before_gate(agent, "PASS").next)
    assert gate.step == "gate"
    agent.write("out.txt", "x")
    assert agent.run_command(gate.next).step == "last"


def test_a_gate_that_refuses_is_where_the_run_stays(skill: Skill, monkeypatch: pytest.MonkeyPatch) -> None:
    """A verdict serves once: a second gate on the way prints its block, and refuses its own command."""
    monkeypatch.setattr(registration, "demanded", False)
    agent = skill(
        f'{WORK}, *review_loop("d", work="work", passed="again"),'
        f' StepDef("again", "Again", "", {{Outcome.OK: "last", Outcome.FAIL: "work"}}, Gate("d")), {END}'
    )
    again = agent.run_command(before_gate(agent, "PASS").next)
    assert (again.step, again.turn) == ("again", 4)
    assert_refused(agent, again.next, "spent-verdict", again.run)


def test_a_limit_that_was_met_before_a_walked_step_is_told(skill: Skill) -> None:
    agent = skill(
        'StepDef("work", "Work", "Work.", {Outcome.OK: "look", Outcome.ITERATE: "work"}, max_iterations=2,'
        ' requires=[Field("parts", "list", required=False)]),'
        'StepDef("look", "Look", "Look.", {Outcome.SKIP: "last", Outcome.OK: "last"},'
        f' Dispatch("explore", task="{{target}}", targets="work.parts")), {END}'
    )
    last = agent.follow(agent.follow(agent.open(), outcome="iterate"), outcome="iterate")
    assert last.step == "last"
    assert "work was left because its 2 iterations were used up" in last.words("NOTICE")


def test_a_run_that_stands_at_a_gate_goes_on(walked: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a version left it that walked through no gate."""
    end = before_gate(walked, "FAIL")
    with monkeypatch.context() as patched:
        patched.setattr(walking, "onward", lambda *_: [])
        gate = walked.run_command(end.next)
    assert (gate.step, gate.turn) == ("draft-gate", 3)
    assert walked.show(gate.run).step == "draft-gate"
    assert walked.run_command(end.next).text == walked.show(gate.run).text
    work = walked.run_command(gate.next)
    assert (work.step, work.turn, "Gate" in work.words("STATE")) == ("write", 4, False)
    recorded_state(walked)


def test_eight_that_race_through_a_gate_are_one(walked: Agent) -> None:
    for _ in range(extent(2, 10)):
        end = before_gate(walked, "PASS", walked.open("--new"))
        other = edited(end.next, step="next")

        def leave(at: int, commands: tuple[str, str] = (end.next, other)) -> int:
            block = walked.run_command(commands[at % 2])
            assert (block.exit_code, block.code) in ((0, ""), (3, "wrong-turn")), block.text + block.errors
            assert block.exit_code or (block.step, block.turn) == ("final-review", 5)
            return block.exit_code

        ends = race(8, leave)
        assert sorted(ends) == [0] * 4 + [3] * 4
        run = end.run.partition(".")[0]
        assert [turn for _, turn, *_ in trail(walked, run)] == [1, 2, 3, 4, 5]
        recorded_state(walked)


def told(agent: Agent, chance: random.Random) -> tuple[dict[str, Any], list[Any]]:
    """Walk a run by chance, by the printed commands; the run and its events, but for ids, times and the last request.

    Chance decides at what is done, never at a gate: it is the same whether that is walked through or not.
    """
    agent.write("out.txt", "one\n")
    block = agent.open("--new")
    for _ in range(200):
        if block.kind == "done":
            break
        working = [child for child in block.children if child.command]
        if block.kind == "waiting":
            choices = block.root.find("QUESTION").get("choices").split("|")  # type: ignore[union-attr]
            wanted = choices[chance.randrange(2)]
            question = block.words("QUESTION")
            reason = "looked at, and so decided" if "reviewed" in question or "covers was changed" in question else ""
            block = agent.answer(block, wanted, reason)
        elif working:
            for child in working:
                verdict, is_lost = chance.choice(("pass", "pass", "fail")), chance.random() < 0.1
                lost = agent.show(block.run) if is_lost else None
                end = agent.lose(lost, child.id) if lost else agent.finish(child.command, verdict)
            if chance.random() < 0.2:
                agent.write("out.txt", f"changed meanwhile {chance.random()}\n")
            block = agent.run_command(filled(end.next, _fixes(agent.show(block.run), end.next)))
        elif block.step == "write":
            agent.write("out.txt", f"{chance.random()}\n")
            parts = chance.choice(([], ["head"], ["head", "tail"]))
            block = agent.follow(block, **({"parts": parts} if parts else {}), **_fixes(block, block.next))
        else:
            summary = {"summary": "s"} if block.step == "close" else {}
            block = agent.follow(block, **summary, **_fixes(block, block.next))
        assert block.exit_code == 0, block.text + block.errors
    with closing(Ledger(paths.home(str(agent.project)))) as ledger:
        run, events = ledger.run(block.run), ledger.events(block.run)
    assert run is not None
    recorded_state(agent)
    return _plain(run.fields(), run), [
        [one.kind, one.turn, _plain(one.detail, run), _plain(one.change, run)] for one in events
    ]


def _fixes(block: PrintedBlock, command: str) -> dict[str, list[str]]:
    """The answers that a command asks for, to the findings that a block shows."""
    if "fixes" not in placeholders(command):
        return {}
    told = "\n".join(value for name, value in block.context.items() if name.endswith("findings"))
    names = re.findall(r"^(?:- )?(\S+) \((?:MUST|SHOULD)\)", told, re.MULTILINE)
    return {"fixes": [f"{name} | changed | out.txt" for name in names]}


def _plain(value: Any, run: Run) -> Any:
    """The value without what belongs to one run or one request."""
    if isinstance(value, dict):
        left_out = ("last", "project", "search_paths", "prompt")
        return {name: _plain(one, run) for name, one in value.items() if name not in left_out}
    if isinstance(value, (list, tuple)):
        return [_plain(one, run) for one in value]
    return value.replace(run.id, "RUN") if isinstance(value, str) else value


@pytest.mark.slow
@pytest.mark.parametrize("number", range(extent(12, 60)))
def test_a_story_by_walking_is_the_story_by_single_commands(
    walked: Agent, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    by_walking = told(walked, random.Random(number))
    count = len(walked.blocks)
    with monkeypatch.context() as patched:
        patched.setattr(walking, "onward", lambda *_: [])
        by_commands = told(walked, random.Random(number))
    assert by_walking[0] == by_commands[0]
    assert by_walking[1] == by_commands[1]
    assert count < len(walked.blocks) - count
