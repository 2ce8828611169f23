"""Runs and openings over a graph that was changed since."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock
from tests.fixtures.skill import install, source_of
from tests.runtime.calls import LOOP, serve
from tests.runtime.test_definition_changes import Changing

Skill = Callable[..., Agent]


def test_a_new_way_round_a_gate_is_refused(skill: Skill) -> None:
    before = (
        'StepDef("first", "First", "Do.", {Outcome.OK: "then"}), StepDef("then", "Then", "Do.", {Outcome.OK: "work"}), '
    )
    agent = skill(before + LOOP.replace("{bound}", "5"))
    block = agent.open()
    graph = Path(agent.script[: -len(".py")] + "_workflow.py")
    text = graph.read_text(encoding="utf-8")
    graph.write_text(text.replace('"work"}', '"work", Outcome.SKIP: "last"}', 1), encoding="utf-8")
    found = subprocess.run(["bash", "-c", block.next], capture_output=True, text=True)
    refused = PrintedBlock(found.returncode, found.stdout, found.stderr)
    assert (refused.exit_code, refused.code) == (3, "definition-changed")
    assert "a way round the gate d-gate, which lay on every way to the end, is new" in refused.why


def test_a_run_of_an_older_definition_is_no_repeat_of_an_opening(tmp_path: Path, project: Path) -> None:
    changing = Changing(tmp_path, project)
    first = changing.agent.open("--new")
    assert serve(changing.agent, "--step", "1").run == first.run
    changing.change('requires=[Field("a")]', 'requires=[Field("z")]')
    opened = serve(changing.agent, "--step", "1", "--new")
    assert serve(changing.agent, "--step", "1").run == opened.run
    assert first.run != opened.run
    assert changing.agent.follow(opened, z="x").step == "two"


def test_an_opening_over_an_older_definition_opens_anew_and_names_the_other(tmp_path: Path, project: Path) -> None:
    name = "reopened"

    def write(field: str) -> Agent:
        sys.modules.pop(f"lockstep_skill.{name}.scripts.{name}_workflow", None)
        steps = f'StepDef("one", "One", "One.", {{Outcome.OK: None}}, requires=[Field("{field}")])'
        return Agent(install(tmp_path, name, source_of(name, steps)), project)

    old = write("a").open()
    agent = write("z")
    opened = agent.open()
    assert opened.run != old.run
    assert [old.run in notice for notice in opened.notices] == [True]
    assert agent.open().run == opened.run
    assert agent.follow(opened, z="x").kind == "done"
