"""``lockstep agent plan``: the plan is shown and approved, executed, and what a person says of it is kept."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage

from skills.lib.agent.agent import Agent
from skills.lib.agent.planning import cases
from tests.agent.planning.plan_runs import GOAL, LINE, honest
from tests.agent.planning.plan_runs import project as with_skill
from tests.agent.scripted import Answer, ScriptedModel, report
from tests.commands.conftest import Command
from tests.fixtures.terminal import at_terminal

Put = Callable[[ScriptedModel], ScriptedModel]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOCKSTEP_DATA", str(tmp_path / "data"))
    folder = with_skill(tmp_path / "project")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def put(monkeypatch: pytest.MonkeyPatch) -> Put:
    """Let sessions ask a scripted model."""

    def with_model(model: ScriptedModel) -> ScriptedModel:
        def made(project: str, _: Any = None, **options: Any) -> Agent:
            return Agent(project, model, **options)

        monkeypatch.setattr("skills.lib.agent.agent.Agent", made)
        return model

    return with_model


@pytest.fixture
def person(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Put a person at the terminal, who answers these in turn; what was asked is returned."""

    def answers(*given: str) -> list[str]:
        left, asked = list(given), []

        def text(screen: Any, label: str, choices: Any = ()) -> str:
            asked.append(label)
            return left.pop(0)

        monkeypatch.setattr("skills.lib.terminal.is_there", lambda: True)
        monkeypatch.setattr("skills.lib.commands.console.prompts.is_terminal", lambda: True)
        monkeypatch.setattr("skills.lib.commands.console.prompts.text", text)
        return asked

    return answers


class Failing:
    """Fails the first step so many times."""

    def __init__(self, times: int) -> None:
        self.left = times

    def __call__(self, step: str, messages: list[BaseMessage]) -> Answer | None:
        if step != "find-check" or not self.left:
            return None
        self.left -= 1
        return report(record={"verdict": "fail", "feedback": "it is the wrong line"})


@pytest.mark.req("P-01")
def test_a_person_approves_at_the_terminal_and_says_something_at_the_end(
    cli: Command, put: Put, person: Callable[..., list[str]], project: Path
) -> None:
    put(honest())
    asked = person("approve", "shorter, please")
    shown = cli("agent", "plan", "books", GOAL)
    assert shown.code == 0, shown.err
    assert "1. Find the line (find): safe_cli_executor" in shown.out
    assert shown.out.splitlines()[-1] == f"LINE={LINE}"
    assert (project / "SUMMARY.md").read_text() == f"{LINE}\n"
    assert asked == ["Answer (b leaves)", "What should the next plan know? (one line, or nothing)"]
    assert "(done): shorter, please" in cases.read(str(project), "books")


@pytest.mark.req("P-01")
def test_in_a_pipe_the_plan_is_shown_and_nothing_is_executed(cli: Command, put: Put, project: Path) -> None:
    put(honest())
    shown = cli("agent", "plan", "books", GOAL)
    assert shown.code == 6
    assert shown.out.startswith(f"The plan for books, to reach: {GOAL}\n\n1. Find the line (find)")
    assert re.search(r"lockstep answer \S+ ANSWER\n +lockstep agent plan --run", shown.err)
    assert not (project / "SUMMARY.md").exists()


@pytest.mark.req("P-01")
def test_a_plan_and_a_step_that_failed_are_answered_by_lockstep_answer_from_another_process(
    cli: Command, put: Put, project: Path
) -> None:
    put(honest(by=Failing(4)))
    plan = re.search(r"lockstep answer (\S+) ANSWER", cli("agent", "plan", "books", GOAL).err)
    assert plan
    code, shown = at_terminal("answer", plan[1], "approve")
    assert (code, "Recorded as a person's answer" in shown) == (0, True)
    executed = cli("agent", "plan", "books", GOAL)
    failed = re.search(r"lockstep answer (\S+) ANSWER", executed.err)
    assert (executed.code, bool(failed)) == (6, True)
    assert failed
    code, shown = at_terminal("answer", failed[1], "accept")
    assert (code, "takes a reason" in shown) == (3, True)
    assert at_terminal("answer", failed[1], "accept", "--reason", "the line is known to be right")[0] == 0
    assert cli("agent", "plan", "books", GOAL).code == 0


def test_yes_approves_the_plan_unless_an_agent_gives_it(cli: Command, put: Put, project: Path) -> None:
    put(honest())
    refused = cli("agent", "plan", "books", GOAL, "--yes", env={"CLAUDECODE": "1"})
    assert refused.code == 3
    assert "--yes approves a plan, which is a person's to do: Claude Code (CLAUDECODE is set)" in refused.err
    assert cli("agent", "plan", "books", GOAL, "--yes").code == 0
    assert (project / "SUMMARY.md").exists()


def test_an_agent_of_a_session_plans_nothing(cli: Command, put: Put) -> None:
    put(honest())
    shown = cli("agent", "plan", "books", GOAL, env={"LOCKSTEP_AGENT": "1"})
    assert shown.code == 3
    assert "an agent's session starts no other one" in shown.err


@pytest.mark.req("P-03")
def test_a_person_decides_on_a_step_that_failed(
    cli: Command, put: Put, person: Callable[..., list[str]], project: Path
) -> None:
    put(honest(by=Failing(4)))
    asked = person("approve", "accept", "", "the line is known to be right", "")
    shown = cli("agent", "plan", "books", GOAL)
    assert shown.code == 0
    assert "Step find failed 4 times. The last evaluation: it is the wrong line" in shown.out
    assert asked[1:4] == ["Answer (b leaves)", "Why it is accepted", "Why it is accepted, in more than a word"]


def test_the_same_command_goes_on_after_a_person_left(
    cli: Command, put: Put, person: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = put(honest(by=Failing(4)))
    first = cli("agent", "plan", "books", GOAL)
    assert first.code == 6
    run = re.search(r"agent plan --run (\S+)", first.err)
    assert run
    person("approve", "abort", "")
    ended = cli("agent", "plan", "--run", run[1])
    assert ended.code == 7
    assert len([call for call in model.calls if "books-plan" in call.system]) == 1


def test_events_and_outcomes_are_lines_of_json(cli: Command, put: Put) -> None:
    put(honest())
    shown = cli("agent", "plan", "books", GOAL, "--yes", "--json")
    lines = [json.loads(line) for line in shown.out.splitlines() if line.startswith("{")]
    outcomes = [line for line in lines if line["type"] == "outcome"]
    assert [(one["status"], one["exit"]) for one in outcomes] == [("done", 0), ("done", 0)]
    assert all(line.startswith("{") for line in shown.out.splitlines())
    events = [(line["run"], line["cursor"]) for line in lines if line["type"] != "outcome"]
    assert len(events) == len(set(events))


@pytest.mark.parametrize("words", [("books",), (), ("books", GOAL, "--run", "x")])
def test_what_is_to_be_planned_is_said(cli: Command, words: tuple[str, ...]) -> None:
    shown = cli("agent", "plan", *words)
    assert shown.code == 2
    assert "give a skill and a goal, or a run" in shown.err
