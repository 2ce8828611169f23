"""More ways that once led past a check, left a run that could not go on, or told what was not so."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib import markers
from skills.lib.blocks.document import QUESTION_LIMIT
from skills.lib.errors import LedgerError, SkillError
from skills.lib.ledger import Ledger
from skills.lib.model.texts import VALUE_LIMIT
from skills.lib.runtime import loading
from skills.lib.testing.agent import Agent
from tests.fixtures.skill import install, source_of
from tests.runtime.test_attacks import OPEN_ENDED, leave, serve, skill, verify
from tests.runtime.test_definition_changes import Changing

__all__ = ["skill"]

Skill = Callable[..., Agent]
Factory = Callable[[str], Agent]

COMPUTED = (
    'StepDef("first", "First", "First.", {Outcome.OK: "spread"}), '
    'StepDef("spread", "Spread", "Spread.", {Outcome.OK: "last"}, '
    'Dispatch("explore", task="Look at {target}.", targets=found)), ' + OPEN_ENDED
)


# Targets that a function computes


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


# Sub-agents that come back late


def test_a_sub_agent_of_an_earlier_round_speaks_for_nobody(agent: Factory) -> None:
    waves = agent("waves")
    first = waves.follow(waves.open(), areas=["a", "b", "c"])
    look = [child.command.replace("--step 1", "--step current") for child in first.children]
    ends = [waves.finish(child.command) for child in first.children]
    second = waves.run_command(ends[-1].next)
    late = waves.run_command(look[0])
    assert (late.kind, late.next, late.root.find("ORCHESTRATOR")) == ("done", "", None)
    assert late.notices == ["The step that started this sub-agent was left since: nothing more is wanted of it."]

    ask = waves.run_command(waves.finish(second.children[0].command).next)
    assert ask.step == "ask"
    assert waves.run_command(look[1]).next == ""


# Questions


ASKING = (
    'StepDef("ask", "Ask", "Ask.", {{Outcome.OK: "last", Outcome.FAIL: "ask"}}, '
    'person("{question}", {{"yes": "ok", "no": "fail"}}), '
    'requires=[Field("said"), Field("more", "list", required=False)]), '
    + OPEN_ENDED.replace("{", "{{").replace("}", "}}")
)


def test_a_question_shows_nothing_of_an_earlier_one(skill: Skill) -> None:
    agent = skill(ASKING.format(question="{ask.said}: {ask.more}"))
    waiting = leave(agent, agent.open(), "next", said="first", more=["drop the table"])
    assert waiting.words("QUESTION") == "first: - drop the table"
    again = agent.follow(waiting, answer="no")
    asked = leave(agent, again, "next", said="second")
    assert asked.words("QUESTION") == "second: "
    assert "more" not in agent.state(asked.run).state["ask"]


def test_a_question_that_is_cut_says_where_the_rest_is(skill: Skill) -> None:
    agent = skill(ASKING.format(question="{ask.said}"))
    waiting = leave(agent, agent.open(), "next", said="x" * (QUESTION_LIMIT + 1))
    told = waiting.words("QUESTION")
    assert f"… ({QUESTION_LIMIT + 1:,} characters)\nThe values in it are shown whole by: " in told
    assert f"trace {waiting.run} --values --project " in told


@pytest.mark.parametrize(
    "step, words",
    [
        (
            'StepDef("a", "A", "A.", {Outcome.OK: None}, person("Ok?"), requires=[Field("reason")])',
            "step 'a' requires: the engine records 'reason' of this step",
        ),
        (
            'StepDef("a", "A", "A.", {Outcome.OK: None}, person("Ok?"), requires=[Field("answered_by")])',
            "the engine records 'answered_by'",
        ),
        (
            'StepDef("a", "A", "A.", {Outcome.OK: None}, Dispatch("explore"), requires=[Field("results")])',
            "the engine records 'results'",
        ),
        (
            'StepDef("a", "A", "A.", {Outcome.OK: None, Outcome.ITERATE: "a"}, '
            'person("Ok?", {"y": "ok", "n": "iterate"}), max_iterations=2)',
            "step 'a': max_iterations bounds no answers",
        ),
        (
            'StepDef("a", "A", "A.", {Outcome.OK: None}, person("Ok?")), params=[Arg("x", step="a")]',
            "a asks a person as it is entered, and nothing is reported there",
        ),
    ],
)
def test_what_a_person_s_step_could_not_keep_is_no_workflow(
    tmp_path: Path, request: pytest.FixtureRequest, step: str, words: str
) -> None:
    name = "unkept" + str(abs(hash(step)))[:8]
    script = install(tmp_path, name, source_of(name, step))
    with pytest.raises(SkillError) as caught:
        loading.workflow_of_script(str(script))
    assert words in caught.value.what


# Openings


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


# Where things are kept


def test_the_marker_of_a_sub_agent_stands_while_its_loss_is_not_recorded(
    agent: Factory, monkeypatch: pytest.MonkeyPatch
) -> None:
    waves = agent("waves")
    block = waves.follow(waves.open(), areas=["a", "b"])
    child = waves.run_command(block.children[0].command)

    def full(*_: object, **__: object) -> None:
        raise LedgerError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(Ledger, "commit", full)
        assert waves.lose(block, child.run).exit_code == 4
    assert markers.read(str(waves.project), child.run) is not None
    assert waves.lose(block, child.run).exit_code == 0
    assert markers.read(str(waves.project), child.run) is None


@pytest.mark.parametrize("source", ["OTHER = 1\n", "CHOICE = {'one': 'one.py'}\n"])
def test_a_common_entry_without_a_choice_is_a_broken_skill(tmp_path: Path, project: Path, source: str) -> None:
    script = install(tmp_path, "unchosen", source_of("unchosen", OPEN_ENDED))
    (script.parent / "unchosen_workflow.py").unlink()
    (script.parent / "unchosen_choice.py").write_text(source, encoding="utf-8")
    done = subprocess.run([sys.executable, script, "--step", "1"], cwd=project, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (5, "")
    assert "unchosen_choice.py has no CHOICE" in done.stderr
