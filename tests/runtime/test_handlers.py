"""What a handler may give back and print, and that it cannot damage the record."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib.testing.agent import Agent
from tests.runtime.calls import serve, verify

Skill = Callable[..., Agent]
HANDLED = (
    'StepDef("first", "First", "Do.", {Outcome.OK: "last"}, handle, outcomes=["ok"]), '
    'StepDef("last", "Last", "Stop.", {Outcome.OK: None}, needs=["first.x"])'
)


@pytest.mark.parametrize(
    "body, words",
    [
        ("raise SystemExit(0)", "raised SystemExit: 0"),
        ('return Outcome.OK, {"x": "\\x1b[31m"}', "U+001B at position 0"),
        ('return Outcome.OK, {"x": ["\\ud800"]}', "U+D800 at position 0"),
        ('return Outcome.OK, {1: "x"}', "has the name 1, which is not a text"),
        ('x = []; x.append(x); return Outcome.OK, {"x": x}', "is nested more than 30 deep"),
    ],
)
def test_a_handler_that_gives_what_cannot_be_kept_leaves_the_run(skill: Skill, body: str, words: str) -> None:
    agent = skill(HANDLED, before=f"def handle(ctx):\n    {body}\n")
    block = agent.open()
    found = agent.follow(block)
    assert (found.exit_code, found.text) == (5, "")
    assert words in found.errors
    assert serve(agent, "--step", "current", "--run", block.run).text == block.text


def test_a_handler_keeps_a_long_text(skill: Skill) -> None:
    agent = skill(HANDLED, before='def handle(ctx):\n    return Outcome.OK, {"x": "x" * 150_000}\n')
    assert agent.follow(agent.open()).step == "last"


def test_what_a_handler_or_its_module_prints_is_not_part_of_the_document(skill: Skill, tmp_path: Path) -> None:
    agent = skill(HANDLED, before='print("loaded")\ndef handle(ctx):\n    print("handled")\n    return Outcome.OK\n')
    block = agent.open()
    command = [sys.executable, agent.script, *shlex.split(block.next)[2:]]
    found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert found.stdout.startswith('<step protocol="1"')
    assert found.stderr == "loaded\nhandled\n"


def test_a_handler_that_adds_to_a_list_in_place_does_not_damage_the_record(skill: Skill) -> None:
    before = """def handle(ctx):
    log = ctx.step_state.get("log", [])
    log += ["again"]
    ctx.workflow_params["seen"] = log
    return Outcome.ITERATE, {"log": log}
"""
    agent = skill(
        'StepDef("first", "First", "Do.", {Outcome.OK: None, Outcome.ITERATE: "first"}, handle, '
        'outcomes=["ok", "iterate"], max_iterations=9)',
        before,
    )
    block = agent.follow(agent.follow(agent.open()))
    assert agent.state(block.run).state["first"]["log"] == ["again", "again"]
    verify(agent)
