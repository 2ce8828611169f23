"""The reply to a report leaves out what its reader has; every other block is full."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock

Skill = Callable[..., Agent]

LONG = "what was said about the matter, in many words and twice over, " * 5
OTHER = "another thing altogether that was found on the way to the end, " * 5
STEPS = (
    'StepDef("one", "One", "Do one.", {Outcome.OK: "two"}, requires=[Field("said")]), '
    'StepDef("two", "Two", "Do two.", {Outcome.OK: "three"}, needs=["one.said"], requires=[Field("found", "list")]), '
    'StepDef("three", "Three", "Do three.", {Outcome.OK: "four"}, needs=["one.said", "two.found"]), '
    'StepDef("four", "Four", "Do four.", {Outcome.OK: "five"}, needs=["one.said", "two.found"]), '
    'StepDef("five", "Five", "Do five.", {Outcome.OK: None}, needs=["one.said", "two.found"])'
)


@pytest.fixture
def walker(skill: Skill) -> Agent:
    return skill(STEPS)


def printed(block: PrintedBlock) -> list[str]:
    """The values of CONTEXT that stand in the text."""
    return [f"{value.get('step')}.{value.get('name')}" for value in block.root.iterfind("CONTEXT/value")]


def at_two(walker: Agent) -> PrintedBlock:
    return walker.follow(walker.open(), said=LONG)


def at_three(walker: Agent) -> PrintedBlock:
    return walker.follow(at_two(walker), found=[OTHER])


def test_a_value_that_the_report_gave_is_left_out(walker: Agent) -> None:
    block = at_two(walker)
    assert (block.left_out, printed(block)) == (["one.said"], [])
    assert block.root[0].tag == "BRIEF"
    assert block.context == {"one.said": LONG}


def test_a_value_that_the_answered_block_left_out_is_left_out_again(walker: Agent) -> None:
    block = at_three(walker)
    assert (block.left_out, printed(block)) == (["one.said", "two.found"], [])
    assert block.context == {"one.said": LONG, "two.found": f"- {OTHER}"}


def test_the_command_of_the_first_line_prints_all(walker: Agent) -> None:
    block = at_three(walker)
    whole = walker.run_command(block.words("BRIEF/command"))
    assert (whole.left_out, printed(whole)) == ([], ["one.said", "two.found"])
    assert whole.context == block.context


def test_a_repeat_is_full(walker: Agent) -> None:
    begun = walker.open()
    command = begun.command({"said": LONG})
    assert printed(walker.run_command(command)) == []
    assert printed(walker.run_command(command)) == ["one.said"]


def test_every_fifth_turn_is_full(walker: Agent) -> None:
    four = walker.follow(at_three(walker))
    five = walker.follow(four)
    assert (four.turn, printed(four)) == (4, [])
    assert (five.turn, printed(five)) == (5, ["one.said", "two.found"])


def test_short_values_are_printed_again(walker: Agent) -> None:
    block = walker.follow(walker.open(), said="short")
    assert (block.left_out, printed(block)) == ([], ["one.said"])


def test_a_value_that_got_an_erratum_is_printed(walker: Agent) -> None:
    two = at_two(walker)
    command = f"{two.command({'found': [OTHER]})} --erratum {shlex.quote('one.said=half of it is wrong')}"
    three = walker.run_command(command)
    assert printed(three) == ["one.said"]
    assert 'erratum="half of it is wrong"' in three.text
    assert printed(walker.follow(three)) == []


def test_a_value_that_the_answered_block_gave_by_a_file_is_given_again(walker: Agent, tmp_path: Path) -> None:
    file = tmp_path / "record.json"
    file.write_text(json.dumps({"said": "long " * 3_000}), encoding="utf-8")
    begun = walker.open()
    two = walker.run_command(begun.next.replace("--record said='FILL_said'", f"--record-file {file}"))
    assert two.left_out == ["one.said"]
    excerpt = walker.show(two.run)
    assert excerpt.root.find("CONTEXT/value").get("file")  # type: ignore[union-attr]
    three = walker.follow(excerpt, found=[OTHER])
    assert (three.left_out, printed(three)) == (["two.found"], ["one.said"])


def test_a_program_gets_full_blocks(walker: Agent) -> None:
    from contextlib import closing

    from skills.lib.blocks.command_line import CommandLine
    from skills.lib.model.run import Request
    from skills.lib.runtime import Runner

    begun = walker.open()
    with closing(Runner(CommandLine("python", walker.script, str(walker.project)))) as runner:
        request = Request("next", run=begun.run, turn=1, records={"said": LONG})
        assert LONG in runner.advance(walker.workflow, begun.run, request).text


def test_help_on_fields_is_told_once(skill: Skill) -> None:
    walker = skill(
        'StepDef("one", "One", "Do one.", {Outcome.OK: "two"}, requires=[Field("said")]), '
        'StepDef("two", "Two", "Do two.", {Outcome.OK: "three"}, needs=["one.said"], requires=[Field("found")]), '
        'StepDef("three", "Three", "Do three.", {Outcome.OK: None}, needs=["one.said"], requires=[Field("a", "list")])'
    )
    two = at_two(walker)
    assert two.words("RECORD/file") == ""
    assert "A list is a JSON array" in walker.follow(two, found=OTHER).words("RECORD/file")


def test_help_on_fields_stays_out_while_no_block_of_the_run_needs_to_repeat_it(skill: Skill) -> None:
    walker = skill(
        'StepDef("one", "One", "Do one.", {Outcome.OK: "two"}, requires=[Field("said")]), '
        'StepDef("two", "Two", "Do two.", {Outcome.OK: "three"}, needs=["one.said"]), '
        'StepDef("three", "Three", "Do three.", {Outcome.OK: None}, needs=["one.said"], requires=[Field("found")])'
    )
    three = walker.follow(at_two(walker))
    assert [spec.name for spec in three.specs] == ["found"]
    assert three.words("RECORD/file") == ""
    assert "--record-file FILE" in walker.show(three.run).words("RECORD/file")


def test_tools_stay_out_while_they_are_the_same(skill: Skill) -> None:
    walker = skill(
        'StepDef("one", "One", "Do one.", {Outcome.OK: "two"}, requires=[Field("said")]), '
        'StepDef("two", "Two", "Do two.", {Outcome.OK: "three"}, needs=["one.said"]), '
        'StepDef("three", "Three", "Do three.", {Outcome.OK: None}, needs=["one.said"], tools=["read"])',
        more='tools=["read", "shell"]',
    )
    two = at_two(walker)
    assert two.root.get("tools") is None
    assert two.words("BRIEF").startswith("Left out, as you have it: these values, tools. All: ")
    assert walker.show(two.run).root.get("tools") == "read shell"
    three = walker.follow(two)
    assert three.root.get("tools") == "read"
    assert three.words("BRIEF").startswith("Left out, as you have it: these values. All: ")


def test_the_end_leaves_out_what_the_last_report_gave(skill: Skill) -> None:
    walker = skill('StepDef("one", "One", "Do one.", {Outcome.OK: None}, requires=[Field("said"), Field("short")])')
    last = walker.follow(walker.open(), said=LONG, short="yes")
    brief = last.root.find("BRIEF")
    assert brief is not None
    assert (brief.get("result"), LONG in last.text) == ("one.said", False)
    assert last.result == {"one.said": LONG, "one.short": "yes"}
    assert LONG in walker.run_command(last.words("BRIEF/command")).text


def test_an_agent_that_lost_all_reads_the_first_line(walker: Agent) -> None:
    block = at_three(walker)
    walker.memory.forget(block.run)
    assert walker.run_command(block.words("BRIEF/command")).context == {"one.said": LONG, "two.found": f"- {OTHER}"}


SENDS = (
    'StepDef("send", "Send", "Send them.", {Outcome.OK: "read"}, '
    'Dispatch(AgentRole.EXPLORE, tasks=["Look here.", "Look there."])), '
    'StepDef("read", "Read", "Read.", {Outcome.OK: None}, needs=[%s])'
)


@pytest.mark.parametrize("needs, tells", [('"send.results"', False), ("", True)])
def test_the_end_of_a_sub_agent_tells_no_result_that_its_orchestrator_reads_next(
    skill: Skill, needs: str, tells: bool
) -> None:
    walker = skill(SENDS % needs)
    begun = walker.open()
    for child in begun.children:
        task = walker.run_command(child.command)
        assert (task.left_out, task.root.find("BRIEF")) == ([], None)
        last = walker.follow(task, result=LONG)
        assert (LONG in last.text) is tells
        again = walker.show(child.id)
        assert again.result == {"task.result": LONG}
    read = walker.run_command(last.next)
    assert (LONG in read.text) is not tells
