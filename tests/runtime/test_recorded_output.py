"""A command's output is recorded: the agent does not type what a script can tell."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skills.lib.ledger import Ledger
from skills.lib.testing.agent import Agent
from skills.lib.validation.validator import validate
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.requirements import Command, Field
from skills.lib.workflow.types import Outcome
from tests.fixtures.skill import install, source_of

Skill = Callable[..., Agent]
LAST = 'StepDef("last", "Last", "Read what was found.", {Outcome.OK: None}, needs=["count.found"])'


@pytest.fixture
def skill(tmp_path: Path, project: Path, request: pytest.FixtureRequest) -> Skill:
    """An agent of a skill whose first step runs this command, and whose last step shows what it recorded."""

    def make(argv: list[str], given: str = 'records="found"', more: str = "", before: str = "", **parts: str) -> Agent:
        name = "r" + "".join(char for char in request.node.name if char.isalnum())[:40].lower()
        steps = (
            f'StepDef("count", "Count", "Count.", {{Outcome.OK: "last"}}, {more.partition(";")[0] or None},'
            f" requires=[Command({argv!r}, 20, {given}){more.partition(';')[2]}]), {LAST}"
        )
        entry = install(tmp_path, name, source_of(name, steps).replace("WORKFLOW =", f"{before}\nWORKFLOW =", 1))
        for part, text in parts.items():
            (entry.parent / f"{part}.py").write_text(text, encoding="utf-8")
        return Agent(entry, project)

    return make


def sh(text: str) -> list[str]:
    return ["sh", "-c", text]


def events(agent: Agent, run: str) -> list[dict[str, Any]]:
    ledger = Ledger(str(agent.project / ".lockstep"), create=False)
    found = [event.detail for event in ledger.events(run)]
    ledger.close()
    return found


@pytest.mark.req("E-01")
def test_what_a_command_prints_is_recorded_and_the_agent_types_nothing(skill: Skill) -> None:
    agent = skill(["tell.py", "two"], tell="import json, sys\nprint(json.dumps({'words': sys.argv[1:]}))\n")
    block = agent.open()
    assert "--record" not in block.next
    last = agent.run_command(block.next)
    assert last.context == {"count.found": '{"words": ["two"]}'}
    assert agent.state(block.run).state["count"] == {"found": {"words": ["two"]}}
    assert events(agent, block.run)[-1]["recorded"] == {"found": {"words": ["two"]}}


@pytest.mark.req("E-01")
def test_what_was_recorded_of_one_command_is_given_to_the_next_one_and_to_the_handler(skill: Skill) -> None:
    decide = 'def decide(ctx):\n    return Outcome.OK, {"more": ctx.step_state["found"] + 1}\n'
    agent = skill(sh("echo 41"), more='decide; , Command(["sh", "-c", "echo {found} > told.txt"], 20)', before=decide)
    block = agent.open()
    agent.follow(block)
    assert (agent.project / "told.txt").read_text() == "41\n"
    assert agent.state(block.run).state["count"] == {"found": 41, "more": 42}


def test_standard_error_is_kept_apart_from_the_value(skill: Skill) -> None:
    agent = skill(sh("echo looking >&2; echo '[1]'; echo done >&2"))
    block = agent.open()
    agent.follow(block)
    [found] = events(agent, block.run)[-1]["evidence"]
    assert (found["output"], found["errors"], "value" in found) == ("[1]\n", "looking\ndone\n", False)


@pytest.mark.parametrize(
    "script, words",
    [
        ("echo two words", "printed no JSON value for found"),
        ("echo '[1] [2]'", "printed no JSON value for found"),
        ("true", "It printed nothing."),
        ('echo \'{"a": 1, "a": 2}\'', "stands twice"),
        ("echo NaN", "is not JSON"),
        ("printf '\"\\\\u0001\"'", "U+0001"),
        ("printf '\"\\377\"'", "not UTF-8"),
        ("head -c 100001 /dev/zero | tr '\\0' 1", "printed more than 100,000 characters for found"),
        ("echo '[1]'; echo no such plan >&2; exit 3", "ended with 3, not 0. Its output ends:\nno such plan"),
    ],
)
def test_output_that_cannot_be_recorded_is_refused_with_what_was_printed(skill: Skill, script: str, words: str) -> None:
    agent = skill(sh(script))
    block = agent.open()
    refused = agent.run_command(block.next)
    assert (refused.exit_code, refused.code) == (3, "missing-evidence")
    assert words in refused.why
    assert len(refused.text) < 10_000
    assert agent.state(block.run).state == {}


def test_a_refusal_of_output_that_is_no_json_shows_its_end(skill: Skill) -> None:
    agent = skill(sh("echo two words"))
    assert agent.follow(agent.open()).why.endswith("Its output ends:\ntwo words\n")


@pytest.mark.parametrize(
    "script, recorded",
    [
        ("echo fine; echo well >&2", {"ok": True, "exit": 0, "output": "fine\nwell\n"}),
        ("echo 1 failed; exit 1", {"ok": False, "exit": 1, "output": "1 failed\n"}),
        ("kill -9 $$", {"ok": False, "exit": -9, "output": ""}),
    ],
)
def test_how_a_command_ended_that_may_fail_is_recorded(skill: Skill, script: str, recorded: dict[str, Any]) -> None:
    agent = skill(sh(script), 'may_fail=True, records="found"')
    block = agent.open()
    assert agent.run_command(block.next).step == "last"
    assert agent.state(block.run).state["count"]["found"] == recorded


def test_a_command_that_may_fail_and_cannot_be_run_says_so(skill: Skill) -> None:
    agent = skill(["no-such-program"], 'may_fail=True, records="found"')
    block = agent.open()
    agent.follow(block)
    kept = agent.state(block.run).state["count"]["found"]
    assert (kept["ok"], kept["exit"]) == (False, None)
    assert kept["output"].startswith("no-such-program cannot be run: ")


def test_a_secret_is_not_kept_by_way_of_an_output(skill: Skill) -> None:
    agent = skill(["sh", "-c", "echo '\"'$0'\"'", "{token}"], 'records="found"', more=';, Field("token")')
    block = agent.open()
    agent.follow(block, token="s3kr1t")
    assert "s3kr1t" not in str(agent.state(block.run).state)
    assert "s3kr1t" not in str(events(agent, block.run))


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.text(st.characters(min_codepoint=32, max_codepoint=126)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=4),
    max_leaves=8,
)


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(VALUES)
def test_any_json_value_is_recorded_as_it_was_printed(skill: Skill, value: object) -> None:
    agent = skill(["cat", "value.json"])
    agent.write("value.json", json.dumps(value))
    block = agent.open("--new")
    agent.run_command(block.next)
    assert agent.state(block.run).state["count"]["found"] == value


# The graph


def test_a_recorded_output_is_part_of_the_data_and_a_plain_command_is_as_before() -> None:
    recording = Command(["count.py"], may_fail=True, records="found")
    workflow = Workflow("w", StepDef("one", "One", "Do.", {Outcome.OK: None}, requires=[recording]))
    assert Workflow.from_data(workflow.to_data(), commands=True).steps == workflow.steps
    plain = Workflow("w", StepDef("one", "One", "Do.", {Outcome.OK: None}, requires=[Command(["make"])]))
    [kept] = plain.to_data()["steps"][0]["requires"]
    assert kept == {"$kind": "Command", "argv": ["make"], "timeout": 600}


@pytest.mark.parametrize(
    "given, words",
    [
        ({"may_fail": True}, "give records"),
        ({"records": "no name"}, "is not a name"),
        ({"records": 3}, "is not text"),
    ],
)
def test_a_command_that_could_record_nothing_is_not_built(given: dict[str, Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        Command(["make"], **given)


def test_a_name_that_the_engine_records_itself_is_not_taken() -> None:
    from skills.lib.workflow.types import AgentRole, Dispatch

    with pytest.raises(ValueError, match="the engine records 'results'"):
        StepDef("one", handler=Dispatch(AgentRole.EXPLORE), requires=[Command(["x"], records="results")])


@pytest.mark.parametrize("other", [Field("found"), Command(["make"], records="found")])
def test_one_name_for_two_recorded_values_is_found(other: Field | Command) -> None:
    step = StepDef("one", "One", "Do.", {Outcome.OK: "two"}, requires=[Command(["count.py"], records="found"), other])
    two = StepDef("two", "Two", "Do it with care.", {Outcome.OK: None}, needs=["one.found"])
    found = [finding.rule for finding in validate(Workflow("w", step, two))]
    assert found == ["repeated-name"]


@pytest.mark.parametrize("needs, rules", [(["one.found"], []), (["one.fuond"], ["read-before-write"])])
def test_validation_knows_what_a_command_records(needs: list[str], rules: list[str]) -> None:
    one = StepDef("one", "One", "Do.", {Outcome.OK: "two"}, requires=[Command(["count.py"], records="found")])
    two = StepDef("two", "Two", "Do it with care.", {Outcome.OK: None}, needs=needs)
    assert [finding.rule for finding in validate(Workflow("w", one, two))] == rules


def test_an_output_is_no_placeholder_of_the_command_that_prints_it() -> None:
    commands = [Command(["use.py", "{found}"]), Command(["count.py"], records="found")]
    one = StepDef("one", "One", "Do.", {Outcome.OK: None}, requires=commands)
    assert [finding.rule for finding in validate(Workflow("w", one))] == ["read-before-write"]
