"""What sub-agents are handed: parameters that fit, tasks and lists of them that stay blocks."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skills.lib.blocks.command_line import CommandLine
from skills.lib.blocks.parts import BLOCK_LIMIT
from skills.lib.runtime import Runner
from skills.lib.testing.agent import Agent
from skills.lib.testing.blocks import PrintedBlock, filled
from tests.fixtures.deviations import assert_refused, assert_way_on, recorded_state
from tests.fixtures.skill import install, source_of

Handing = Callable[..., Agent]

LAST = 'StepDef("last", "Last", "Stop.", {Outcome.OK: None})'


@pytest.fixture
def handing(tmp_path: Path, project: Path, request: pytest.FixtureRequest) -> Handing:
    """An agent of a skill that records ``field`` first and then dispatches; ``param`` is its sub-agents' parameter."""

    def make(field: str, dispatch: str, param: str = "", more: str = "") -> Agent:
        # A module is loaded once in a process: each test's skill has its own name.
        name = "h" + "".join(char for char in request.node.name if char.isalnum())[-40:].lower()
        steps = (
            f'StepDef("first", "First", "First.", {{Outcome.OK: "spread"}}, requires=[{field}]), '
            f'StepDef("spread", "Spread", "Spread.", {{Outcome.OK: "last"}}, {dispatch}), {LAST}'
        )
        script = install(tmp_path, name, source_of(name, steps.replace("PART", f"{name}part"), more))
        if param:
            look = 'StepDef("look", "Look", "Look.", {Outcome.OK: None}, needs=["given"])'
            part = install(tmp_path / "part", f"{name}part", source_of(f"{name}part", look, f"params=[{param}]"))
            for file in part.parent.glob("*.py"):
                file.rename(script.parent / file.name)
        return Agent(script, project)

    return make


def reported(agent: Agent, block: PrintedBlock, **records: object) -> str:
    """The block's command with these records in a file."""
    agent.write("report.json", json.dumps(records))
    command = block.next.partition(" --record ")[0]
    return f"{command} --record-file {shlex.quote(str(agent.project / 'report.json'))}"


# Parameters


@pytest.mark.parametrize(
    "field, param, given, why",
    [
        (
            'Field("a", "list")',
            'Arg("given", "list")',
            ["x" * 6_000] * 20,
            "a value of 120,061 characters, and 100,000",
        ),
        ('Field("a")', 'Arg("given")', "FILL_given is what stands there", "begins as a placeholder does"),
    ],
)
def test_parameters_that_no_run_can_be_opened_with_are_refused_when_they_are_handed_out(
    handing: Handing, field: str, param: str, given: object, why: str
) -> None:
    agent = handing(field, 'Dispatch("explore", script="PART.py", params={"given": "{first.a}"})', param)
    block = agent.open()
    refused = assert_refused(agent, reported(agent, block, a=given), "bad-targets", block.run)
    assert "step spread gives its sub-agents given as {first.a}: " in refused.why
    assert why in refused.why
    spread = assert_way_on(agent, refused, a=["short"] if "list" in field else "short")
    assert agent.run_command(spread.children[0].command).step == "look"


def test_a_sub_agent_that_cannot_begin_is_given_up_by_its_orchestrator(handing: Handing) -> None:
    agent = handing(
        'Field("a", "int")',
        'Dispatch("explore", script="PART.py", params={"given": "{first.a}"})',
        'Arg("given", "int", maximum=5)',
    )
    spread = agent.follow(agent.open(), a=9)
    child = spread.children[0]
    refused = assert_refused(agent, child.command, "bad-value", child.id)
    assert "given: 9 is out of range" in refused.why
    assert "Tell this to your orchestrator" in refused.why
    assert (refused.next, refused.show) == ("", "")
    [lost] = refused.valid
    shown = agent.run_command(filled(lost, {"reason": "its parameter is too large"}))
    assert [one.status for one in shown.children] == ["lost"]
    assert agent.run_command(shown.next).step == "last"
    before = recorded_state(agent)
    assert agent.run_command(child.command).code == "child-lost"
    assert recorded_state(agent) == before


def test_a_value_that_was_not_recorded_is_no_word_in_braces(handing: Handing) -> None:
    agent = handing(
        'Field("a", required=False)',
        'Dispatch("explore", script="PART.py", params={"given": "{first.a}"})',
        'Arg("given", default="all of it")',
    )
    spread = agent.follow(agent.open())
    assert agent.run_command(spread.children[0].command).context == {"given": "all of it"}


def test_a_task_is_silent_on_what_was_not_recorded_or_given(handing: Handing) -> None:
    agent = handing(
        'Field("a", required=False)',
        'Dispatch("explore", task="Look{first.a}{area}. {other one}")',
        more='params=[Arg("area", required=False)]',
    )
    spread = agent.follow(agent.open())
    assert agent.run_command(spread.children[0].command).words("DO").strip() == "Look. {other one}"


def test_an_optional_field_left_out_says_nothing_of_what_it_once_was(tmp_path: Path, project: Path) -> None:
    steps = (
        'StepDef("one", "One", "Do.", {Outcome.OK: "two"}, requires=[Field("note", required=False)]), '
        'StepDef("two", "Two", "Do.", {Outcome.OK: None, Outcome.FAIL: "one"}, needs=["one.note"],'
        ' when={Outcome.OK: "it is done", Outcome.FAIL: "it is not"})'
    )
    agent = Agent(install(tmp_path, "optional", source_of("optional", steps)), project)
    two = agent.run_command(agent.open().next + " --record note='all tests are red'")
    assert two.context == {"one.note": "all tests are red"}
    assert agent.follow(agent.follow(two, outcome="fail")).context == {}


# Blocks that stay blocks


def test_long_values_in_a_task_stand_in_its_context(handing: Handing) -> None:
    agent = handing(
        'Field("a"), Field("b"), Field("c", "list")',
        'Dispatch("explore", task="See {first.a}, mind {first.b}.", context="All: {first.c}")',
    )
    long = "\n".join(f"line {at} & <b>" for at in range(6_000))
    first = agent.open()
    spread = agent.run_command(reported(agent, first, a=long, b="the gap", c=["one", "two " * 20_000]))
    task = agent.run_command(spread.children[0].command)
    assert len(task.text) < BLOCK_LIMIT
    told = "See [first.a: it stands in CONTEXT], mind the gap.\n\nAll: [first.c: it stands in CONTEXT]"
    assert task.words("DO").strip() == told
    values = {value.get("name"): value for value in task.root.iterfind("CONTEXT/value")}
    assert list(values) == ["a", "c"]
    assert Path(values["a"].get("file", "")).read_text(encoding="utf-8") == long
    assert (values["a"].text or "").startswith(long[:400])
    assert Path(values["c"].get("file", "")).read_text(encoding="utf-8") == "- one\n- " + "two " * 20_000
    assert agent.follow(task, result="found").kind == "done"


def test_a_long_target_stands_in_the_context_of_its_sub_agent(handing: Handing) -> None:
    agent = handing('Field("a", "list")', 'Dispatch("explore", task="Look at {target}.", targets="first.a")')
    spread = agent.run_command(reported(agent, agent.open(), a=["t" * 20_000, "short"]))
    assert len(spread.text) < BLOCK_LIMIT
    long, short = [agent.run_command(child.command) for child in spread.children]
    assert (long.words("DO").strip(), short.words("DO").strip()) == (
        "Look at [target: it stands in CONTEXT].",
        "Look at short.",
    )
    [value] = long.root.iterfind("CONTEXT/value")
    assert Path(value.get("file", "")).read_text(encoding="utf-8") == "t" * 20_000
    assert len(long.text) < BLOCK_LIMIT
    assert "CONTEXT" not in [part.tag for part in short.root]


@pytest.mark.slow
@pytest.mark.parametrize("count, at_once", [(40, None), (120, None), (120, "60")])
def test_very_many_sub_agents_get_their_commands_as_there_is_room(
    handing: Handing, count: int, at_once: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if at_once:
        monkeypatch.setenv("LOCKSTEP_AGENTS", at_once)
    agent = handing(
        'Field("a", "list")', f'Dispatch("explore", task="Look at {{target}}.", targets="first.a", cap={count})'
    )
    block = agent.run_command(reported(agent, agent.open(), a=[f"M-{at} {'x' * 100}" for at in range(count)]))
    show = block.next.replace("--step last", "--step current").replace(f" --turn {block.turn}", "")
    finished: list[str] = []
    rounds = 0
    while commands := [(child.id, child.command) for child in block.children if child.command]:
        rounds += 1
        assert len(block.text) < BLOCK_LIMIT
        held = count - len(finished) - len(commands)
        assert (f"{held} of them have no command yet" in block.words("DISPATCH/how")) == bool(held)
        for at, (child, command) in enumerate(commands, 1):
            end = agent.finish(command)
            finished.append(child)
            if len(finished) < count and at == len(commands):
                assert end.next == show
        block = agent.run_command(show)
    assert rounds > 1
    assert sorted(finished) == sorted(f"{block.run}.{at}" for at in range(1, count + 1))
    assert end.next == block.next
    assert agent.run_command(end.next).step == "last"


def test_what_is_to_be_done_at_the_end_stays_a_block(tmp_path: Path, project: Path) -> None:
    source = source_of("closes", LAST, 'params=[Arg("topic"), Arg("other")], closing="Tell of {topic}, {other}."')
    agent = Agent(install(tmp_path, "closes", source), project)
    done = agent.follow(agent.open(topic="q" * 50_000, other="short"))
    assert len(done.text) < BLOCK_LIMIT
    [closing] = done.notices
    assert closing.startswith(f"Tell of {'q' * 400} … (50,000 characters), short. What is cut is shown whole by: ")
    assert closing.endswith(f"trace {done.run} --values --project {project}")


def test_why_a_run_was_given_up_stays_a_block(tmp_path: Path, project: Path) -> None:
    agent = Agent(install(tmp_path, "givenup", source_of("givenup", LAST)), project)
    block = agent.open()
    runner = Runner(CommandLine(sys.executable, agent.script, str(project)), "person")
    runner.abandon(block.run, "r" * 60_000)
    runner.close()
    shown = agent.run_command(block.next.replace("--step done", "--step current").replace(" --turn 1", ""))
    assert shown.words("STATE") == f"This run is abandoned: {'r' * 1_000} … (60,000 characters)."


def test_two_values_of_one_name_stand_in_two_files(tmp_path: Path, project: Path) -> None:
    steps = (
        'StepDef("work", "Work", "Work.", {Outcome.OK: "d"}, needs=["d.findings"]), '
        'StepDef("d", "D", "D.", {Outcome.OK: "last", Outcome.FAIL: "work"}, '
        'Dispatch("quality-reviewer", task="Look."), requires=[Field("findings")]), ' + LAST
    )
    agent = Agent(install(tmp_path, "twice", source_of("twice", steps)), project)
    review = agent.follow(agent.open())
    about = {"scope": "", "check": "it holds", "severity": "MUST", "status": "FAIL", "finding": "REVIEWER " * 20}
    agent.follow(agent.run_command(review.children[0].command), items=[{**about, "id": f"i{at}"} for at in range(60)])
    work = agent.run_command(reported(agent, review, findings="AUTHOR " * 1_500))
    assert (work.step, len(work.text) < BLOCK_LIMIT) == ("work", True)
    files = [Path(value.get("file", "")).read_text(encoding="utf-8") for value in work.root.iterfind("CONTEXT/value")]
    assert [(text.count("AUTHOR"), text.count("REVIEWER")) for text in files] == [(1_500, 0), (0, 1_200)]


# Rules of every step


def test_rules_of_every_step_are_shown_once_also_to_sub_agents_and_with_questions_to_a_person(
    tmp_path: Path, project: Path
) -> None:
    steps = (
        'StepDef("look", "Look", "Look.", {Outcome.OK: "ask"}, Dispatch("explore"), forbidden=["Own rule."]), '
        'StepDef("ask", "Ask", "Ask.", {Outcome.OK: None}, person("Well?", ["y"]), forbidden=["Do not answer."])'
    )
    source = source_of("rules", steps, 'forbidden=["Never push.", "Own rule."]')
    agent = Agent(install(tmp_path, "rules", source), project)

    def rules(block: PrintedBlock) -> list[str | None]:
        return [rule.text for rule in block.root.iterfind("FORBIDDEN/rule")]

    look = agent.open()
    assert rules(look) == ["Own rule.", "Never push."]
    task = agent.run_command(look.children[0].command)
    assert rules(task)[2:] == ["Never push.", "Own rule."]
    ask = agent.run_command(agent.follow(task, result="found").next)
    assert (ask.kind, rules(ask)) == ("waiting", ["Do not answer.", "Never push.", "Own rule."])
