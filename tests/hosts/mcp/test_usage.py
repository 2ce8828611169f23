"""Calls that cannot be understood, and values that cannot be kept: an error with a remedy, and nothing changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.hosts.mcp.talking import Answer, Talk, add_skill, in_process, talk

pytestmark = pytest.mark.req("H-06")


@pytest.mark.parametrize(
    "tool, arguments, told",
    [
        (
            "start_run",
            {"skill": "tuor"},
            "there is no skill 'tuor'; did you mean tour?\n  valid: tour\n"
            "  try:   list_skills() says what each is for\n",
        ),
        ("start_run", {}, "start_run: skill is missing\n  valid: The name of the skill, or of one of its workflows.\n"),
        ("start_run", {"skill": ["tour"]}, "start_run: skill is a text, not ['tour']\n"),
        ("start_run", {"skill": " "}, "start_run: skill is empty\n"),
        (
            "next_step",
            {"run": "gone"},
            "this project has no run 'gone'\n  valid: none: no run is open\n  try:   run_state() lists the open runs, "
            "start_run opens one\nNothing was changed.\n",
        ),
        (
            "next_step",
            {"run": "gone", "records": {}},
            "next_step has no argument 'records'\n  valid: run, turn, step, record, parameters, errata, outcome, "
            "answer, lost, replace, reason\n  try:   what a block asks to record goes into record, or parameters\n"
            'Nothing was changed. The run\'s present block: run_state(run="gone")\n',
        ),
        ("run_state", {"run": 7}, "run_state: run is a text, not 7\n"),
        ("list_skills", {"all": True}, "list_skills has no argument 'all'\n  valid: none\n"),
    ],
)
def test_a_call_that_cannot_be_understood_is_an_error_with_a_remedy(
    project: Path, tool: str, arguments: dict[str, Any], told: str
) -> None:
    add_skill(project, "tour")
    answer = talk(in_process, project, lambda to: to.call(tool, **arguments))
    assert (answer.error, answer.text) == (True, told)


@pytest.mark.parametrize(
    "given, told",
    [
        ({"turn": True}, "next_step: turn is a whole number, not True"),
        ({"record": "summary=x"}, 'next_step: record is an object such as {"name": "value"}, not \'summary=x\''),
        ({"record": {"summary": "a\0b"}}, "record: U+0000 at position 1 is a character that XML 1.0 does not have"),
        ({"record": {"summary\0": "a"}}, "record: U+0000 at position 7 is a character that XML 1.0 does not have"),
        ({"step": "\x1b[2J"}, "step: U+001B at position 0 is a character that XML 1.0 does not have"),
        ({"record": {"summary": "x" * 200_000}}, "record has 200,000 characters, at most 100,000 are read"),
        ({"record": {str(n): "x" * 90_000 for n in range(30)}}, "the call has 2,70"),
        ({"lost": "a", "replace": "b"}, "lost gives up on a sub-agent and replace starts another"),
        ({"step": "nowhere"}, "tour has no step 'nowhere'"),
    ],
)
def test_odd_values_change_nothing(project: Path, given: dict[str, Any], told: str) -> None:
    add_skill(project, "tour")

    async def work(to: Talk) -> tuple[Answer, Answer, Answer]:
        first = await to.call("start_run", skill="tour", parameters={"topic": "tea"})
        arguments = {"run": first.data["run"], "turn": 1, "step": "plan", **given}
        return first, await to.call("next_step", **arguments), await to.call("run_state", run=first.data["run"])

    first, answer, state = talk(in_process, project, work)
    assert answer.error
    assert answer.text.startswith(told)
    assert answer.text.endswith(f'The run\'s present block: run_state(run="{first.data["run"]}")\n')
    assert state.text == first.text
