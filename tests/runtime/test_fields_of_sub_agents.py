"""A Dispatch may require Fields of a free-form sub-agent: the engine checks them as it checks those of a step."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock
from tests.fixtures.skill import install, source_of
from tests.runtime.calls import verify

STEPS = """
StepDef("send", "Send", "Send.", {Outcome.OK: "last"}, Dispatch(
    "explore", targets=["north", "south"], task="Look {target}.",
    requires=[Field("cause"), Field("sure", "int", minimum=1, maximum=5), Field("also", "list", required=False)])),
StepDef("last", "Last", "Stop.", {Outcome.OK: None}, needs=["send.results"]),
"""


@pytest.fixture
def sending(tmp_path: Path, project: Path) -> tuple[Agent, PrintedBlock]:
    agent = Agent(install(tmp_path, "fields", source_of("fields", STEPS)), project)
    return agent, agent.open()


def test_a_sub_agent_is_asked_for_the_fields_and_the_run_that_sent_it_has_their_values(
    sending: tuple[Agent, PrintedBlock],
) -> None:
    agent, sent = sending
    last = sent
    for child in sent.children:
        begun = agent.run_command(child.command)
        names = [(field.get("name"), field.get("required")) for field in begun.root.iterfind("RECORD/field")]
        assert names == [("result", None), ("cause", None), ("sure", None), ("also", "false")]
        last = agent.follow(begun, result="seen", cause="a scan", sure="4")
        assert last.kind == "done"
    after = agent.run_command(last.next)
    values = [entry["values"] for entry in agent.state(after.run).state["send"]["results"]]
    assert values == [{"result": "seen", "cause": "a scan", "sure": 4}] * 2
    verify(agent)


@pytest.mark.parametrize(
    "values, code",
    [
        ({"result": "seen", "cause": "a scan", "sure": "9"}, "bad-value"),
        ({"result": "seen", "cause": " ", "sure": "4"}, "bad-value"),
        ({"result": "seen", "cause": "FILL_cause", "sure": "4"}, "unfilled"),
    ],
)
def test_a_field_that_does_not_fit_is_refused(
    sending: tuple[Agent, PrintedBlock], values: dict[str, str], code: str
) -> None:
    agent, sent = sending
    begun = agent.run_command(sent.children[0].command)
    refused = agent.follow(begun, **values)
    assert (refused.exit_code, refused.code) == (3, code)
    assert agent.state(begun.run).turn == 1


def test_fields_of_a_ledger_that_are_none_are_an_error_of_the_skill(sending: tuple[Agent, PrintedBlock]) -> None:
    from skills.lib.engine.children import task_workflow
    from skills.lib.errors import SkillError

    for fields in ([3], [{"name": "a b"}], [{"colour": "red"}]):
        with pytest.raises(SkillError, match="step send requires of its sub-agents what is no field"):
            task_workflow("w", {"task": "Look.", "step": "send", "fields": fields})
