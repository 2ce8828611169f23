"""What a run left undone is told alike by its last block, lockstep runs, lockstep trace and the MCP reply."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skills.lib.hosts.mcp import desk
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import Block
from tests.commands.conftest import Command
from tests.fixtures.skill import source_of

Install = Callable[..., Path]

STEPS = """
StepDef("scan", "Scan", "Scan.", {Outcome.OK: "ask"},
    Dispatch("explore", task="look", targets=["one", "two"])),
StepDef("ask", "Ask", "", {Outcome.OK: "work"}, person("Fine?", ["yes"])),
StepDef("work", "Work", "Work.", {Outcome.OK: "d-review"}),
*review_loop("d", work="work", passed="pick"),
StepDef("pick", "Pick", "Pick.", {Outcome.OK: "more", Outcome.SKIP: None},
    when={Outcome.OK: "there is more", Outcome.SKIP: "there is none"}),
StepDef("more", "More", "More.", {Outcome.OK: "e-review"}),
*review_loop("e", work="more", passed=None)
"""
PARAMS = 'params=[Arg("unproved", default="", waives="the proof")]'


@pytest.fixture
def agent(installed: Install, project: Path) -> Agent:
    """An agent of a skill in which much can be left undone."""
    return Agent(installed("undone", source_of("undone", STEPS, PARAMS)), project)


@pytest.fixture
def end(agent: Agent) -> Block:
    """The last block of a run that left something of each kind undone."""
    block = agent.open(unproved="the machine is down")
    agent.finish(block.children[0].command)
    agent.lose(block, block.children[1].id, "it hangs")
    work = agent.follow(agent.run_command(block.next), answer="yes")
    review = agent.follow(work)
    found = [
        {"id": "a", "check": "it holds", "severity": "MUST", "status": "PASS", "finding": "it holds"},
        {"id": "b", "check": "it is fair", "severity": "COULD", "status": "FAIL", "finding": "a name is dull"},
    ]
    last = agent.follow(agent.run_command(review.children[0].command), items=found)
    pick = agent.follow(agent.run_command(last.next))
    return agent.follow(pick, outcome="skip")


def test_look(end: Block, cli: Command, project: Path) -> None:
    print(end.text)
    print(cli("runs", "--all").out)
    print(cli("runs", "--all", "--json").out)
    print(cli("trace", end.run).out)
    print(cli("trace", end.run, "--html", "-").out[2000:])
    print(desk.serve({"tool": "run_state", "run": end.run, "project": str(project)}))
    assert 0
