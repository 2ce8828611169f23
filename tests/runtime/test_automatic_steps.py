"""Automatic steps: the engine leaves them by itself, with nothing reported; an agent is asked if that is refused."""

from __future__ import annotations

import shlex
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from skills.lib import paths
from skills.lib.blocks.command_line import here
from skills.lib.ledger import Ledger
from skills.lib.model.requirements import Arg, Command, Field
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.types import Dispatch, Gate, Outcome, person
from skills.lib.runtime import Runner
from skills.lib.testing.agent import Agent
from tests.fixtures.agents import Skill
from tests.fixtures.deviations import assert_refused, edited, recorded_state

pytestmark = pytest.mark.req("W-09")

COUNTED = 'Command(["sh", "-c", "echo x >> runs; test -f {name} && cat {name}"], 20, records="{name}")'
LOOK = COUNTED.replace("{name}", "seen")
END = COUNTED.replace("{name}", "proof")
STEPS = (
    f'StepDef("look", "Look", "Look.", {{Outcome.OK: "work"}}, requires=[Field("said", required=False), {LOOK}], '
    "automatic=True),"
    'StepDef("work", "Work", "Work.", {Outcome.OK: "tell"}, needs=["look.seen"], requires=[Field("done")]),'
    f'StepDef("tell", "Tell", "Tell.", {{Outcome.FAIL: None}}, requires=[{END}], automatic=True)'
)


@pytest.fixture
def agent(skill: Skill, project: Path) -> Agent:
    (project / "seen").write_text('["one"]\n', encoding="utf-8")
    (project / "proof").write_text('["two"]\n', encoding="utf-8")
    return skill(STEPS)


def runs(agent: Agent) -> int:
    """How often a command of a step was run."""
    return len((agent.project / "runs").read_text(encoding="utf-8").splitlines())


def trail(agent: Agent, run: str) -> list[tuple[str, int, str, Any]]:
    """The moves of a run: kind, turn, actor, to."""
    return [(one.kind, one.turn, one.actor, one.detail.get("to")) for one in agent.events(run)]


def test_the_opening_leaves_an_automatic_step_and_a_report_the_next_one(agent: Agent) -> None:
    work = agent.open()
    assert (work.step, work.turn, work.context["look.seen"]) == ("work", 2, "- one")
    assert work.words("STATE").endswith("step 2 of 3. Step look was done by the engine.")
    done = agent.follow(work, done="all")
    assert (done.kind, done.root.get("status"), done.result["tell.proof"]) == ("done", "failed", "- two")
    assert done.words("STATE").endswith("failed at tell, after 3 transitions. Step tell was done by the engine.")
    assert trail(agent, work.run) == [
        ("opened", 1, "agent", None),
        ("moved", 2, "script", "work"),
        ("moved", 3, "agent", "tell"),
        ("finished", 4, "script", None),
    ]
    recorded_state(agent)
    assert runs(agent) == 2


def test_the_same_opening_and_the_same_report_again_run_no_command(agent: Agent) -> None:
    work = agent.open()
    assert agent.open().run == work.run
    assert agent.show(work.run).text == work.text
    ended = agent.follow(work, done="all")
    assert agent.follow(work, done="all").text == ended.text
    assert runs(agent) == 2


def test_a_run_that_moved_is_not_opened_again(agent: Agent, project: Path) -> None:
    (project / "proof").unlink()
    agent.follow(agent.open(), done="all")
    assert agent.open().code == "already-open"


def test_a_command_of_the_turn_that_the_opening_took_is_refused(agent: Agent) -> None:
    work = agent.open()
    assert_refused(agent, edited(work.next, step="next", turn="1"), "wrong-turn", work.run)


def test_an_opening_that_ends_the_run_speaks_of_no_command_and_of_no_other_run(skill: Skill, project: Path) -> None:
    (project / "seen").write_text('["one"]\n', encoding="utf-8")
    agent = skill(f'StepDef("look", "Look", "Look.", {{Outcome.OK: None}}, requires=[{LOOK}], automatic=True)')
    (project / "seen").rename(project / "unseen")
    assert agent.open().step == "look"
    (project / "unseen").rename(project / "seen")
    ended = agent.open("--new")
    assert (ended.kind, ended.result["look.seen"], ended.notices) == ("done", "- one", [])


def test_an_agent_is_asked_for_what_the_engine_could_not_do(agent: Agent, project: Path) -> None:
    (project / "seen").unlink()
    look = agent.open()
    assert (look.step, look.turn, [spec.name for spec in look.specs]) == ("look", 1, ["said"])
    assert "ended with 1" in agent.run_command(look.next).why
    (project / "seen").write_text('["three"]\n', encoding="utf-8")
    work = agent.follow(look, said="it was not there")
    assert (work.step, work.context["look.seen"]) == ("work", "- three")
    (project / "proof").unlink()
    tell = agent.follow(work, done="all")
    assert (tell.step, tell.turn) == ("tell", 3)
    (project / "proof").write_text('["four"]\n', encoding="utf-8")
    assert agent.follow(tell).result["tell.proof"] == "- four"


def test_what_the_opening_did_is_kept_in_one_transaction_with_it(agent: Agent) -> None:
    run = agent.open().run
    with closing(Ledger(paths.home(str(agent.project)), create=False)) as ledger:
        kept = ledger.run(run)
        assert kept is not None
        assert (kept.turn, kept.version, kept.last["turn"], kept.last["digest"]) == (2, 2, 1, "")


def test_a_sub_agent_begins_behind_an_automatic_step(skill: Skill, project: Path) -> None:
    (project / "seen").write_text('["one"]\n', encoding="utf-8")
    steps = (
        'StepDef("send", "Send", "Send.", {Outcome.OK: "last"}, Dispatch("explore", script="part.py")),'
        'StepDef("last", "Last", "Stop.", {Outcome.OK: None}, needs=["send.results"])'
    )
    part = STEPS.partition('StepDef("tell"')[0].replace('{Outcome.OK: "tell"}', "{Outcome.OK: None}")
    agent = skill(steps, part=part)
    [child] = agent.open().children
    first = agent.run_command(child.command)
    assert (first.step, first.turn, first.context["look.seen"]) == ("work", 2, "- one")
    assert agent.run_command(child.command).text == first.text
    assert agent.run_command(agent.follow(first, done="all").next).step == "last"


def test_a_sub_agent_that_begins_while_another_does_runs_its_command_once(
    skill: Skill, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCKSTEP_AGENTS", "2")
    steps = (
        'StepDef("send", "Send", "Send.", {Outcome.OK: "last"}, Dispatch("explore", script="part.py", targets=two)),'
        'StepDef("last", "Last", "Stop.", {Outcome.OK: None}, needs=["send.results"])'
    )
    # The command of the one that begins first begins the other, which is then at work before the first is recorded.
    begin = "echo x >> runs; if mkdir once; then sh begin-the-other; fi"
    part = (
        f'StepDef("look", "Look", "Look.", {{Outcome.OK: "work"}}, requires=[Command(["sh", "-c", "{begin}"], 20)], '
        'automatic=True),StepDef("work", "Work", "Work.", {Outcome.OK: None}, requires=[Field("done")])'
    )
    agent = skill(steps, "def two(ctx):\n    return ['a', 'b']\n\n", part=part)
    first, other = agent.open().children
    (project / "begin-the-other").write_text(f"{other.command} > other\n", encoding="utf-8")
    assert agent.run_command(first.command).step == "work"
    assert 'id="work"' in (project / "other").read_text(encoding="utf-8")
    assert runs(agent) == 2


def test_an_opening_during_which_another_run_opens_runs_its_command_once(skill: Skill, project: Path) -> None:
    begin = "echo x >> runs; if mkdir once; then sh open-another; fi"
    agent = skill(
        f'StepDef("look", "Look", "Look.", {{Outcome.OK: "work"}}, requires=[Command(["sh", "-c", "{begin}"], 20)], '
        'automatic=True),StepDef("work", "Work", "Work.", {Outcome.OK: None}, requires=[Field("done")])'
    )
    again = shlex.join([sys.executable, str(agent.script), "--step", "1", "--project", str(project), "--new"])
    (project / "once").mkdir()
    (project / "open-another").write_text(f"{again} > another\n", encoding="utf-8")
    source = agent.open().run
    (project / "once").rmdir()
    with closing(Runner(here(agent.script, str(project)))) as runner:
        opened = runner.start(agent.workflow, {}, origin=source)
    assert opened.run is not None
    assert opened.run.step == "work"
    assert 'id="work"' in (project / "another").read_text(encoding="utf-8")
    assert runs(agent) == 3


@pytest.mark.parametrize(
    "fields, words",
    [
        ({"automatic": "yes"}, "step 'a' automatic: 'yes' is not True or False"),
        ({"requires": [Field("b")]}, "step 'a': it is automatic, and requires b, which only an agent can report"),
        ({"next": {Outcome.OK: None, Outcome.FAIL: None}}, "only an agent can say by which of its ways it ends"),
        ({}, "step 'a': it is automatic, and has no Command, file or handler: the engine could do nothing there"),
        ({"requires": [Field("b", required=False)]}, "it is automatic, and has no Command, file or handler"),
        ({"handler": person("Which?")}, "step 'a': a step with a Person is not automatic"),
        ({"handler": Gate("d")}, "step 'a': a step with a Gate is not automatic"),
        ({"handler": Dispatch("explore", task="Look.")}, "step 'a': a step with a Dispatch is not automatic"),
    ],
)
def test_a_step_that_somebody_has_to_report_or_decide_is_not_automatic(fields: dict[str, Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError)) as told:
        StepDef("a", **{"next": {Outcome.OK: None}, "automatic": True, **fields})
    assert words in str(told.value)


def test_a_step_with_a_parameter_that_must_be_given_is_not_automatic() -> None:
    step = StepDef("a", next={Outcome.OK: None}, requires=[Command(["true"])], automatic=True)
    with pytest.raises(ValueError, match="workflow 'w': a is automatic, and its --depth must be given, which only"):
        Workflow("w", step, params=[Arg("depth", step="a")])
    assert Workflow("w", step, params=[Arg("depth", default="1", step="a")]).step("a").automatic


def test_a_step_that_is_not_automatic_has_the_data_that_it_had() -> None:
    plain = StepDef("a", "A", "x", {Outcome.OK: None}, requires=[Command(["true"])])
    assert StepDef("a", "A", "x", {Outcome.OK: None}, requires=[Command(["true"])], automatic=False) == plain
