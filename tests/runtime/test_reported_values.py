"""Values that cannot be recorded as they are: each is refused in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from skills.lib.testing.agent import Agent
from tests.runtime.calls import OPEN_ENDED, leave, serve

Skill = Callable[..., Agent]


@pytest.mark.parametrize(
    "text, words",
    [
        ('{"j": 1e400}', "1e400 is too large a number"),
        ('{"j": [-1e999]}', "-1e999 is too large a number"),
        ('{"j": {"a": 1, "a": 2}}', "the name 'a' stands twice in one object"),
        ('{"j": 1, "j": 2}', "the name 'j' stands twice in one object"),
        ('{"\\u0007": 1}', "a name: U+0007 at position 0"),
        ('{"\\ud800": 1}', "a name: U+D800 at position 0"),
    ],
)
def test_a_record_file_that_cannot_be_kept_as_it_is(skill: Skill, text: str, words: str) -> None:
    agent = skill('StepDef("first", "First", "Do.", {Outcome.OK: None}, requires=[Field("j", "json")])')
    block = agent.open()
    agent.write("report.json", text)
    file = str(agent.project / "report.json")
    found = serve(agent, "--step", "done", "--run", block.run, "--turn", "1", "--record-file", file)
    assert (found.exit_code, found.text) == (2, "")
    assert words in found.errors


@pytest.mark.parametrize(
    "value, words",
    [
        ("1e400", "j is not JSON: 1e400 is too large a number."),
        ('["\\u0007"]', "j: U+0007 at position 0 is a character that XML 1.0 does not have."),
        ('{"\\ud800": 1}', "j: U+D800 at position 0 is a character that XML 1.0 does not have."),
        ("[" * 900 + "]" * 900, "j is nested more than 30 deep."),
        ('{"a": 1, "a": 2}', "j is not JSON: the name 'a' stands twice in one object."),
    ],
)
def test_json_that_cannot_be_printed_again_is_refused(skill: Skill, value: str, words: str) -> None:
    agent = skill(
        'StepDef("first", "First", "Do.", {Outcome.OK: "last"}, requires=[Field("j", "json")]), '
        'StepDef("last", "Last", "Stop.", {Outcome.OK: None}, needs=["first.j"])'
    )
    block = agent.open()
    refused = leave(agent, block, "last", j=value)
    assert (refused.exit_code, refused.code, refused.why) == (3, "bad-value", words)
    assert leave(agent, block, "last", j='{"a": "\\u00e9"}').step == "last"


def test_a_number_of_400_digits_is_out_of_range(skill: Skill) -> None:
    agent = skill('StepDef("first", "First", "Do.", {Outcome.OK: None}, requires=[Field("n", "int", maximum=9)])')
    refused = leave(agent, agent.open(), "done", n=int("9" * 400))
    assert (refused.exit_code, refused.code) == (3, "bad-value")
    assert refused.why.endswith("999... is out of range; put in a whole number of at most 9.")


@pytest.mark.parametrize(
    "text, code",
    [
        ("\u200b", "bad-value"),
        ("\u2028\ufeff", "bad-value"),
        ("<FILL_t>", "unfilled"),
        ("\u2018FILL_t\u2019", "unfilled"),
        ("`FILL_t`", "unfilled"),
    ],
)
def test_a_text_in_which_nothing_stands_is_refused(skill: Skill, text: str, code: str) -> None:
    agent = skill('StepDef("first", "First", "Do.", {Outcome.OK: None}, requires=[Field("t")])')
    refused = leave(agent, agent.open(), "done", t=text)
    assert (refused.exit_code, refused.code) == (3, code)


def test_a_parameter_given_twice_is_reported(skill: Skill) -> None:
    agent = skill(OPEN_ENDED, more='params=[Arg("level")]')
    found = serve(agent, "--step", "1", "--level", "low", "--level", "high")
    assert (found.exit_code, found.errors.splitlines()[0]) == (2, "lockstep: --level is given twice")


def test_giving_up_and_replacing_at_once_is_reported(skill: Skill) -> None:
    agent = skill('StepDef("ask", "Ask", "Ask.", {Outcome.OK: None}, Dispatch("explore", task="Look."))')
    block = agent.open()
    child = block.children[0].id
    words = ["--lost", child, "--replace", child, "--reason", "gone"]
    found = serve(agent, "--step", "current", "--run", block.run, "--turn", "1", *words)
    assert found.exit_code == 2
    assert agent.state(child).status == "pending"
