"""Targets that a function computes, and what is filled into parameters of sub-agents."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib.model.texts import VALUE_LIMIT
from skills.lib.testing.agent import Agent
from tests.fixtures.skill import install, source_of
from tests.runtime.calls import OPEN_ENDED, leave, verify

Skill = Callable[..., Agent]
COMPUTED = (
    'StepDef("first", "First", "First.", {Outcome.OK: "spread"}), '
    'StepDef("spread", "Spread", "Spread.", {Outcome.OK: "last"}, '
    'Dispatch("explore", task="Look at {target}.", targets=found)), ' + OPEN_ENDED
)


@pytest.mark.parametrize(
    "given, words",
    [
        ("['a\\x00b']", "what it returned: U+0000 at position 1"),
        ("['fine', '\\ud800']", "what it returned: U+D800 at position 0"),
        ("None", "returned None"),
        ("'abc'", "returned 'abc'"),
        ("(part for part in 'ab')", "returned <generator"),
        ("[1, None]", "returned [1, None]"),
        ("['a', ' ']", "returned ['a', ' ']"),
    ],
)
def test_targets_that_no_block_can_hold_move_nothing(skill: Skill, given: str, words: str) -> None:
    agent = skill(COMPUTED, before=f"def found(ctx):\n    return {given}\n")
    opened = agent.open()
    told = agent.follow(opened)
    assert told.exit_code == 5
    assert f"the targets function of step spread{':' if 'U+' in words else ''} {words}" in told.errors
    assert agent.run_command(opened.next.replace("--step spread", "--step current")).text == opened.text
    verify(agent)


def test_a_sub_agent_can_begin_however_much_is_filled_into_its_parameters(tmp_path: Path, project: Path) -> None:
    steps = (
        'StepDef("first", "First", "First.", {Outcome.OK: "spread"}, requires=[Field("a"), Field("b")]), '
        'StepDef("spread", "Spread", "Spread.", {Outcome.OK: "last"}, '
        'Dispatch("explore", script="muchpart.py", params={"all": "{first.a}{first.b}"})), ' + OPEN_ENDED
    )
    script = install(tmp_path, "muchwhole", source_of("muchwhole", steps))
    part = source_of(
        "muchpart", 'StepDef("look", "Look", "Look.", {Outcome.OK: None}, needs=["all"])', 'params=[Arg("all")]'
    )
    made = install(tmp_path, "muchpart", part)
    for file in made.parent.iterdir():
        file.rename(script.parent / file.name)
    agent = Agent(script, project)
    block = leave(agent, agent.open(), "next", a="a" * 90_000, b="b" * 90_000)
    shown = agent.run_command(block.children[0].command)
    assert (shown.exit_code, shown.step) == (0, "look")
    kept = agent.state(shown.run).params["all"]
    assert kept.endswith("b … (180,000 characters)")
    assert len(kept) < VALUE_LIMIT
