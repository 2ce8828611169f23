"""A printed command of a step script, as the tool call that it stands for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.lib.blocks.command_line import CommandLine
from skills.lib.hosts.mcp.blocks import ToolCall, tool_call
from skills.lib.model.run import Run

pytestmark = pytest.mark.req("H-06")

CALLER = CommandLine("/usr/bin/python3", "/a place/skills/tour/scripts/tour.py", "/the project's")
RUN = Run(id="k3f9q2mx", turn=4)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)


@given(values=st.dictionaries(NAMES, TEXTS), step=NAMES)
def test_every_value_of_a_command_comes_through(values: dict[str, str], step: str) -> None:
    words = [word for name, value in values.items() for word in ("--record", f"{name}={value}")]
    call = tool_call(CALLER.step(step, RUN, *words), CALLER, "tour")
    expected = {"run": "k3f9q2mx", "turn": 4, "step": step} | ({"record": values} if values else {})
    assert call == ToolCall("next_step", expected)


@pytest.mark.parametrize(
    "command, shown",
    [
        (CALLER.step("current", RUN, turn=False), 'run_state(run="k3f9q2mx")'),
        (CALLER.step("1", RUN, turn=False), 'next_step(run="k3f9q2mx", step="1")'),
        (CALLER.step("done", RUN), 'next_step(run="k3f9q2mx", turn=4, step="done")'),
        (
            CALLER.step("next", RUN) + " --how-deep FILL_how_deep --topic 'FILL_topic' --outcome FILL_outcome",
            'next_step(run="k3f9q2mx", turn=4, step="next", parameters={"how_deep": FILL_how_deep, '
            '"topic": "FILL_topic"}, outcome="FILL_outcome")',
        ),
        (
            CALLER.step("current", RUN, "--lost", "k3f9q2mx.1", "--reason", 'it "vanished"'),
            'next_step(run="k3f9q2mx", turn=4, step="current", lost="k3f9q2mx.1", reason="it \\"vanished\\"")',
        ),
        (CALLER.start("--topic", "FILL_topic"), 'start_run(skill="tour", parameters={"topic": "FILL_topic"})'),
        (CALLER.start("--new"), 'start_run(skill="tour", new=true)'),
    ],
)
def test_reads_as_a_call(command: str, shown: str) -> None:
    call = tool_call(command, CALLER, "tour")
    assert call is not None
    assert call.shown({"how_deep": "int", "topic": "text"}) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "next",
        "it's not a command",
        CALLER.person("answer", "k3f9q2mx", "yes"),
        CommandLine(CALLER.python, CALLER.script, "/another/project").step("current", RUN),
        CommandLine("/another/python", CALLER.script, CALLER.project).step("current", RUN),
    ],
)
def test_any_other_text_stays_as_it_is(text: str) -> None:
    assert tool_call(text, CALLER, "tour") is None
