"""What a SKILL.md sets: each setting has an effect, and a wrong one is told before a run is opened."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import StructuredTool

from skills.lib.agent.agent import Agent
from skills.lib.errors import LockstepError
from tests.agent.prose.skills import prose, reported
from tests.agent.scripted import ScriptedModel, calling, in_turn, report

ONE = report(record={"objectives": ["one"]})
TWO = report(record={"objectives": ["one", "two"]})
DONE = report(record=reported("done:answer"))
MISSING = calling(("read", {"path": "nowhere.csv"}))


@pytest.mark.req("A-08.4", "A-08.5")
@pytest.mark.parametrize(
    "head, said",
    [
        ("max_iterations: many\n", "SKILL.md:4: max_iterations is 'many'"),
        ("metadata:\n  author: me\n  max_iterations: 0\n", "SKILL.md:6: max_iterations is '0'"),
        ("metadata:\n  max_iteration: 3\n", "SKILL.md:5: there is no setting 'max_iteration'"),
        ("max-retries-per-tool: 3\n", "did you mean max_retries_per_tool"),
        ("timeout_per_iteration: soon\n", "a time, such as 30s or 2m"),
        ("early_termination: maybe\n", "true or false"),
        ("execution_mode: quick\n", "autonomous or simple"),
        ("context: spoon\n", "SKILL.md:4: 'spoon' is no context"),
        ("context: fork\nagent: Explorer\n", "did you mean Explore"),
    ],
)
def test_a_wrong_setting_is_told_with_its_place_before_a_run_is_opened(tmp_path: Path, head: str, said: str) -> None:
    folder = prose(tmp_path / "p", "tidy", head=head)
    model = ScriptedModel(answer=in_turn())
    with pytest.raises(LockstepError) as raised:
        Agent(str(folder), model).start("tidy", "look")
    assert said in "\n".join(raised.value.lines())
    assert not (folder / ".lockstep").exists()


def test_fields_of_other_hosts_and_of_authors_are_no_mistakes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    head = "hooks: none\nargument-hint: FILE\nversion: 1.2\ntags: [a, b]\nmode: true\nmetadata:\n  author: me\n"
    folder = prose(tmp_path / "p", "tidy", head=head)
    host = Agent(str(folder), ScriptedModel(answer=in_turn(ONE, DONE)))
    assert host.advance(host.start("tidy", "look")).status == "done"
    assert "hooks, argument-hint: of another host, ignored" in caplog.text


def test_settings_at_the_top_level_hold_and_the_portable_form_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = prose(tmp_path / "p", "tidy", head="max_iterations: 2\n")
    model = ScriptedModel(answer=in_turn(ONE, DONE))
    host = Agent(str(folder), model)
    assert host.advance(host.start("tidy", "look")).status == "done"
    assert "max_iterations: other hosts refuse unknown fields; under metadata: they pass" in caplog.text
    assert model.calls[1].tool_names == ["report_step"]


@pytest.mark.req("A-08.1")
def test_a_skill_sets_its_model_calls_and_the_command_overrides_it(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "tidy", head="metadata:\n  max_iterations: 3\n")
    look = calling(("search", {"glob": "*"}))
    model = ScriptedModel(answer=in_turn(ONE, look, look, look, look))
    host = Agent(str(folder), model)
    run = host.start("tidy", "look")
    assert host.advance(run).reason.startswith("3 model calls were made in this run")
    assert len(model.calls) == 3
    again = Agent(str(folder), model, overrides={"max_iterations": 2})
    again.advance(run)
    assert len(model.calls) == 5


@pytest.mark.req("A-08.2")
@pytest.mark.parametrize("most", [1, 2])
def test_a_skill_sets_how_often_a_call_may_fail(tmp_path: Path, most: int) -> None:
    folder = prose(tmp_path / "p", "tidy", head=f"metadata:\n  max_retries_per_tool: {most}\n")
    model = ScriptedModel(answer=in_turn(ONE, MISSING, MISSING, MISSING, DONE))
    host = Agent(str(folder), model)
    assert host.advance(host.start("tidy", "look")).status == "done"
    told = [call.messages[-1].text for call in model.calls[2:]]
    assert ["Refused" in text for text in told] == [number >= most for number in range(3)]


def test_without_early_termination_a_partial_report_is_sent_back(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "tidy", head="metadata:\n  early_termination: false\n")
    half, both = (report(record=reported(*entries)) for entries in (("done:answer", "not:"), ("done:answer",) * 2))
    model = ScriptedModel(answer=in_turn(TWO, half, both))
    host = Agent(str(folder), model)
    assert host.advance(host.start("tidy", "look")).status == "done"
    assert "Recorded: 1 of 2 objectives is done." in model.calls[2].messages[-1].text


def test_without_error_recovery_the_first_failed_call_ends_the_session(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "tidy", head="metadata:\n  enable_error_recovery: false\n")
    model = ScriptedModel(answer=in_turn(ONE, MISSING))
    host = Agent(str(folder), model)
    ended = host.advance(host.start("tidy", "look"))
    assert ended.status == "stopped"
    assert ended.reason.startswith("read failed, and enable_error_recovery is false: there is no 'nowhere.csv'")


def test_a_model_that_takes_longer_than_an_iteration_may_ends_the_session(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "tidy", head="metadata:\n  timeout_per_iteration: 0.2s\n")
    release = threading.Event()

    def answer(messages: list[BaseMessage], tools: object) -> AIMessage:
        release.wait(20)
        return ONE

    host = Agent(str(folder), ScriptedModel(answer=answer))
    began = time.monotonic()
    ended = host.advance(host.start("tidy", "look"))
    release.set()
    assert time.monotonic() - began < 15
    assert ended.reason.startswith("The model did not answer: it took more than the 0.2 s")


def test_a_command_that_takes_longer_than_an_iteration_may_is_ended(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "tidy", head="metadata:\n  timeout_per_iteration: 1s\n")
    model = ScriptedModel(answer=in_turn(ONE, calling(("shell", {"command": "sleep 60"})), DONE))
    host = Agent(str(folder), model)
    began = time.monotonic()
    assert host.advance(host.start("tidy", "look")).status == "done"
    assert time.monotonic() - began < 40
    assert "ended at its time limit after 1" in model.calls[2].messages[-1].text


def test_a_tool_of_a_program_is_not_waited_for_longer_than_an_iteration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skills.lib.agent.run_middleware._GRACE", 0.1)
    folder = prose(tmp_path / "p", "tidy", head="metadata:\n  timeout_per_iteration: 1s\n")
    release = threading.Event()

    def hang() -> str:
        """Wait."""
        release.wait(20)
        return "late"

    tool = StructuredTool.from_function(hang, name="hang")
    model = ScriptedModel(answer=in_turn(ONE, calling(("hang", {})), DONE))
    host = Agent(str(folder), model, tools=[tool])
    assert host.advance(host.start("tidy", "look")).status == "done"
    release.set()
    assert "it took more than the 1.1 s that timeout_per_iteration allows" in model.calls[2].messages[-1].text


@pytest.mark.req("A-06.2")
def test_a_simple_skill_has_one_round_of_tools_and_then_its_report(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "tidy", head="execution_mode: simple\n")
    both = calling(("write", {"path": "a.txt", "content": "a\n"}), ("write", {"path": "b.txt", "content": "b\n"}))
    model = ScriptedModel(answer=in_turn(both, report(record=reported("done:a.txt", result="Two are there."))))
    host = Agent(str(folder), model)
    ended = host.advance(host.start("tidy", "write two files"))
    assert (ended.status, ended.result) == ("done", {"result": "Two are there."})
    assert [one["objective"] for one in ended.objectives] == ["write two files"]
    assert model.calls[1].tool_names == ["report_step"]
    assert "The task is the only objective, number 1." in model.calls[0].system
    assert "try another way" not in model.calls[0].system


def test_a_simple_skill_that_does_not_report_says_that_its_pass_is_over(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "tidy", head="execution_mode: simple\nmax_iterations: 9\n")
    model = ScriptedModel(answer=lambda *_: calling(("search", {"glob": "*"})))
    host = Agent(str(folder), model)
    run = host.start("tidy", "look")
    assert host.advance(run).reason == "The one pass of execution_mode: simple is over, after 3 model calls."
    said = [event.text for event in host.follow(run) if "was not run" in event.text]
    assert said == ["search was not run: only a report was due."] * 2


def test_a_simple_skill_is_not_sent_back(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "tidy", head="execution_mode: simple\n")
    model = ScriptedModel(answer=in_turn("That is all."))
    host = Agent(str(folder), model)
    ended = host.advance(host.start("tidy", "look"))
    assert ended.reason == "The model ended its turn 1 time at work without reporting the step."


def test_a_call_that_was_not_offered_in_the_last_model_call_is_refused(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "tidy", head="execution_mode: simple\n")
    write = calling(("write", {"path": "a.txt", "content": "a\n"}))
    model = ScriptedModel(answer=in_turn(calling(("search", {"glob": "*"})), write, DONE))
    host = Agent(str(folder), model)
    assert host.advance(host.start("tidy", "look")).status == "done"
    assert "report_step alone was offered" in model.calls[2].messages[-1].text
    assert not (folder / "a.txt").exists()
