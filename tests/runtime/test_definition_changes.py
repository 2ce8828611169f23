"""A graph that changes under an open run: wording goes on with a notice, demands and gates ahead do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock, filled
from tests.fixtures.deviations import assert_refused, recorded_state
from tests.fixtures.skill import install, source_of

STEPS = """
StepDef("one", "One", "Do one.", {Outcome.OK: "two"}, requires=[Field("a")]),
StepDef("two", "Two", "Do two.", {Outcome.OK: "work"}, requires=[Field("b", help="what you saw"), Artifact("b.txt")]),
StepDef("work", "Work", "Work.", {Outcome.OK: "design-review"}),
*review_loop("design", work="work", passed="ask"),
StepDef("ask", "Ask", "Ask.", {Outcome.OK: None, Outcome.FAIL: "work"}, person("Good?", {"yes": "ok", "no": "fail"})),
"""
NOTICE = "The workflow's definition changed since this run opened; this step and the gates ahead did not."


class Changing:
    """A skill that is at its second step, and whose graph may be rewritten."""

    def __init__(self, folder: Path, project: Path) -> None:
        self.folder = folder
        self.write(STEPS)
        self.agent = Agent(install(folder, "changing", source_of("changing", STEPS)), project)
        self.agent.write("b.txt", "seen")
        self.two = self.agent.follow(self.agent.open(), a="x")

    def write(self, steps: str) -> None:
        import sys

        install(self.folder, "changing", source_of("changing", steps))
        sys.modules.pop("lockstep_skill.changing.scripts.changing_workflow", None)

    def change(self, old: str, new: str) -> None:
        assert old in STEPS
        self.write(STEPS.replace(old, new))

    def go_on(self) -> PrintedBlock:
        return self.agent.run_command(self.command)

    @property
    def command(self) -> str:
        return filled(self.two.next, {"b": "y"})


@pytest.fixture
def changing(tmp_path: Path, project: Path) -> Changing:
    return Changing(tmp_path, project)


@pytest.mark.parametrize(
    "old, new",
    [
        ('"Two", "Do two."', '"Two", "Do two, and well."'),
        ('"Do one."', '"Do one otherwise."'),
        ('"Two"', '"The second"'),
        (
            'StepDef("one", "One", "Do one.", {Outcome.OK: "two"}, requires=[Field("a")]',
            'StepDef("one", "One", "Do.", {Outcome.OK: "two"}, requires=[Field("z")]',
        ),
        ('StepDef("work", "Work", "Work.",', 'StepDef("work", "Work", "Work.", requires=[Field("c")], next='),
        ('"what you saw"', '"what you really saw"'),
    ],
    ids=["wording", "wording-behind", "title", "demand-behind", "demand-ahead", "help"],
)
def test_a_change_that_does_not_matter_goes_on_with_a_notice(changing: Changing, old: str, new: str) -> None:
    changing.change(old, new)
    work = changing.go_on()
    assert (work.exit_code, work.step) == (0, "work"), work.text
    assert work.notices == [NOTICE]
    kinds = [event.kind for event in changing.agent.events(work.run)]
    assert kinds == ["opened", "moved", "definition-changed", "moved"]
    assert changing.agent.run_command(work.next).notices == []


@pytest.mark.parametrize(
    "old, new, words",
    [
        (
            'Field("b", help="what you saw")',
            'Field("b", minimum=9, help="what you saw")',
            "step two, where the run stands, has another requires",
        ),
        (', Artifact("b.txt")]', "]", "step two, where the run stands, has another requires"),
        (
            '{Outcome.OK: "work"}',
            '{Outcome.OK: "work", Outcome.SKIP: "ask"}',
            "step two, where the run stands, has another next",
        ),
        ('StepDef("two"', 'StepDef("second"', "step two, where the run stands, is gone"),
        (
            '{"yes": "ok", "no": "fail"}',
            '{"yes": "ok", "no": "fail", "later": "fail"}',
            "the gate ask, which lies ahead, is changed",
        ),
        ('passed="ask"', 'passed="ask", bound=9', "the gate design-gate, which lies ahead, is changed"),
        (
            '*review_loop("design", work="work", passed="ask"),',
            '*review_loop("plan", work="work", passed="ask"),',
            "the gate design-gate, which lies ahead, is gone",
        ),
        (
            '"work", "Work", "Work.", {Outcome.OK: "design-review"}',
            '"work", "Work", "Work.", {Outcome.OK: "ask"}',
            "the gate design-gate",
        ),
    ],
    ids=["stricter", "laxer", "way", "gone", "answer", "bound", "checkpoint", "around"],
)
def test_a_change_that_matters_is_refused_and_says_what(changing: Changing, old: str, new: str, words: str) -> None:
    source = STEPS.replace(old, new)
    if "plan" in new:
        source = source.replace('"design-review"', '"plan-review"')
    if "second" in new:
        source = source.replace('"two"', '"second"')
    if "Work" in new:
        source = source.replace('*review_loop("design", work="work", passed="ask"),\n', "")
    changing.write(source)
    refused = assert_refused(changing.agent, changing.command, "definition-changed", changing.two.run)
    assert words in refused.why
    assert "Put it back, and go on with SHOW; or begin a new run with NEXT." in refused.why
    assert refused.next.endswith("--new")
    assert changing.agent.run_command(refused.next).step == "one"


def test_the_run_goes_on_once_the_graph_is_put_back(changing: Changing) -> None:
    changing.change('Field("b", help', 'Field("b", minimum=9, help')
    assert changing.go_on().code == "definition-changed"
    changing.write(STEPS)
    assert changing.go_on().step == "work"


def test_an_ended_run_is_shown_whatever_changed(tmp_path: Path, project: Path) -> None:
    import sys

    steps = 'StepDef("a", "A", "Do.", {Outcome.OK: None}, requires=[Field("x")])'
    agent = Agent(install(tmp_path, "brief", source_of("brief", steps)), project)
    block = agent.open()
    done = agent.follow(block, x="1")
    install(tmp_path, "brief", source_of("brief", steps.replace('"a"', '"b"')))
    sys.modules.pop("lockstep_skill.brief.scripts.brief_workflow")
    again = agent.follow(block, x="1")
    assert (again.exit_code, again.kind, again.turn) == (0, "done", done.turn)
    recorded_state(agent)


def test_a_sub_agents_run_goes_on_when_its_parents_wording_changes(tmp_path: Path, project: Path) -> None:
    import sys

    steps = 'StepDef("a", "A", "Do.", {Outcome.OK: None}, Dispatch("explore", task="look"))'
    agent = Agent(install(tmp_path, "sends", source_of("sends", steps)), project)
    block = agent.open()
    task = agent.run_command(block.children[0].command)
    install(tmp_path, "sends", source_of("sends", steps.replace('"Do."', '"Do it."')))
    sys.modules.pop("lockstep_skill.sends.scripts.sends_workflow")
    last = agent.follow(task, result="found")
    assert (last.kind, last.notices) == ("done", [])
    assert agent.run_command(last.next).kind == "done"
