"""``lockstep agent run``: what a person sees of a session, what a program reads, and how it ends."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from skills.lib.commands.console.screen import Screen
from skills.lib.commands.session.display import Display, JsonLines, Lines, LiveLines, display_for
from tests.commands.conftest import Command, Shown
from tests.fixtures import fake_agent
from tests.fixtures.fake_agent import Drive, FakeAgent
from tests.fixtures.skill import ROOT
from tests.fixtures.survey import Session

Run = Callable[..., Shown]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Drive], FakeAgent]:
    """Put a session without a model in the place of the agent."""

    def put(drive: Drive) -> FakeAgent:
        one = FakeAgent(tmp_path / "elsewhere", drive)
        monkeypatch.setattr("skills.lib.agent.agent.Agent", one)
        monkeypatch.setenv("LOCKSTEP_MODEL", "openai:none")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        return one

    return put


def test_in_a_pipe_only_the_result_is_printed(cli: Command, fake: Callable[[Drive], FakeAgent]) -> None:
    agent = fake(fake_agent.walks)
    shown = cli("agent", "run", "survey", "what is this?")
    assert shown.code == 0
    assert shown.out == "It is a parser\nand a store.\n"
    assert shown.err == f"Run {agent.session.run} is done. Its record: lockstep trace {agent.session.run}\n"


@pytest.mark.parametrize("detail", ["summary", "full"])
def test_what_is_asked_for_is_shown_in_a_pipe_too(
    cli: Command, fake: Callable[[Drive], FakeAgent], snapshot: SnapshotAssertion, detail: str
) -> None:
    fake(fake_agent.walks)
    shown = cli("agent", "run", "survey", "what is this?", "--detail", detail)
    assert shown.code == 0
    assert "\x1b" not in shown.err
    assert shown.err == snapshot


def test_json_has_one_event_a_line_and_then_the_outcome(cli: Command, fake: Callable[[Drive], FakeAgent]) -> None:
    agent = fake(fake_agent.walks)
    shown = cli("agent", "run", "survey", "what is this?", "--json", "--detail", "full")
    *events, outcome = [json.loads(line) for line in shown.out.splitlines()]
    assert shown.err == ""
    assert [event["cursor"] for event in events] == [event.cursor for event in agent.session.follow(level="FULL")]
    assert events[-1]["kind"] == "finished"
    assert events[-1]["progress"] == 100
    assert {"type", "visibility", "step", "number", "of", "text", "data", "at", "run"} <= events[0].keys()
    assert outcome["type"] == "outcome"
    assert (outcome["status"], outcome["exit"], outcome["result"]) == (
        "done",
        0,
        {"report": "It is a parser\nand a store."},
    )


def test_a_question_ends_the_session_with_6_and_the_commands_that_go_on(
    cli: Command, fake: Callable[[Drive], FakeAgent]
) -> None:
    run = fake(fake_agent.asks)
    shown = cli("agent", "run", "survey", "what is this?", "--model", "openai:gpt-5.2")
    assert shown.code == 6
    assert shown.out == "Is it right?\nChoices: yes, no\n"
    assert shown.err == (
        f"Run {run.session.run} asks a person. Answer, and go on:\n"
        f"  lockstep answer {run.session.run} ANSWER\n"
        f"  lockstep agent run --run {run.session.run} --model openai:gpt-5.2\n"
    )


def test_a_session_that_stops_ends_with_7_and_says_why(cli: Command, fake: Callable[[Drive], FakeAgent]) -> None:
    run = fake(fake_agent.stops)
    shown = cli("agent", "run", "survey", "what is this?")
    assert shown.code == 7
    assert shown.out == ""
    assert shown.err == (
        "Stopped at look: 15 model calls were made in this step.\n"
        "The run stays where it is; this goes on with it:\n"
        f"  lockstep agent run --run {run.session.run}\n"
    )
    shown = cli("agent", "run", "survey", "what is this?", "--json")
    assert json.loads(shown.out.splitlines()[-1])["exit"] == shown.code == 7


def test_what_a_session_raises_is_told_with_its_exit_code(cli: Command, fake: Callable[[Drive], FakeAgent]) -> None:
    fake(fake_agent.breaks)
    shown = cli("agent", "run", "survey", "what is this?")
    assert (shown.code, shown.err) == (2, "lockstep: the ledger is locked\n  try:   wait\n")


@pytest.mark.parametrize(
    "words, started",
    [
        (("survey", "what is this?"), ("survey", "what is this?", {}, False)),
        (("/survey what is  this?",), ("survey", "what is  this?", {}, False)),
        (("/survey", "what is this?", "--new"), ("survey", "what is this?", {}, True)),
        (("/survey what", "is this?"), ("survey", "what is this?", {}, False)),
        (("survey",), ("survey", "", {}, False)),
        (
            ("survey", "--param", "depth=2", "--param", "look-at=a=b"),
            ("survey", "", {"depth": "2", "look_at": "a=b"}, False),
        ),
    ],
)
def test_skill_task_and_parameters_are_read(
    cli: Command, fake: Callable[[Drive], FakeAgent], words: tuple[str, ...], started: tuple[object, ...]
) -> None:
    agent = fake(fake_agent.stops)
    cli("agent", "run", *words, "--max-iterations", "4", "--base-url", "http://127.0.0.1:1")
    assert agent.started == started
    assert agent.made["overrides"] == {"max_iterations": 4}
    assert (agent.made["model"], agent.made["base_url"]) == (None, "http://127.0.0.1:1")


@pytest.mark.parametrize(
    "words, said",
    [
        ((), "neither a skill nor a run is named"),
        (("survey", "--param", "depth"), "--param 'depth' is no NAME=VALUE"),
        (("survey", "--param", "a=1", "--param", "a=2"), "--param a is given twice"),
        (("survey", "--run", "abc"), "--run names a run, which has its skill and its task"),
        (("survey", "--max-iterations", "0"), "0 is not in the range x>=1"),
        (("survey", " "), "TASK holds nothing yet"),
    ],
)
def test_what_cannot_be_understood_opens_no_run(
    cli: Command, fake: Callable[[Drive], FakeAgent], words: tuple[str, ...], said: str
) -> None:
    agent = fake(fake_agent.stops)
    shown = cli("agent", "run", *words)
    assert shown.code == 2
    assert said in shown.err
    assert agent.started == ()


def test_without_a_model_it_says_what_to_set(
    cli: Command, fake: Callable[[Drive], FakeAgent], monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = fake(fake_agent.stops)
    monkeypatch.delenv("LOCKSTEP_MODEL")
    shown = cli("agent", "run", "survey", "what is this?")
    assert shown.code == 2
    assert "no model is set" in shown.err
    assert "set LOCKSTEP_MODEL, or give --model" in shown.err
    assert agent.started == ()


@pytest.mark.parametrize(
    "options, said",
    [
        (["--model", "opnai:gpt-5"], "there is no provider 'opnai'; did you mean openai?"),
        (["--model", "anthropic:x"], "anthropic needs a key, and ANTHROPIC_API_KEY is not set"),
        (["--model", "openai:x", "--base-url", "localhost:8000"], "the base URL is no address: 'localhost:8000'"),
    ],
)
def test_a_model_that_cannot_be_asked_opens_no_run(
    cli: Command,
    fake: Callable[[Drive], FakeAgent],
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    said: str,
) -> None:
    agent = fake(fake_agent.stops)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    shown = cli("agent", "run", "survey", "what is this?", *options)
    assert shown.code == 2
    assert said in shown.err
    assert agent.started == ()


def test_without_the_extra_it_says_what_to_install(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skills.lib.commands.session.extra.find_spec", lambda name: None)
    shown = cli("agent", "run", "survey", "what is this?", "--model", "openai:none")
    assert shown.code == 4
    assert "needs the extra [agent]" in shown.err
    assert "langchain, langgraph, langgraph.checkpoint.sqlite, filelock" in shown.err
    assert "pip install '/path/to/lockstep[agent]'" in shown.err


def test_an_agent_of_a_session_starts_no_other(cli: Command, fake: Callable[[Drive], FakeAgent]) -> None:
    fake(fake_agent.stops)
    shown = cli("agent", "run", "survey", "what is this?", env={"LOCKSTEP_AGENT": "1"})
    assert shown.code == 3
    assert "an agent's session starts no other one" in shown.err


def screen_on(terminal: bool, **settings: bool) -> tuple[Screen, io.StringIO]:
    written = io.StringIO()
    console = Console(file=written, force_terminal=terminal, width=100, markup=False, highlight=False, **settings)  # type: ignore[arg-type]
    return Screen(console, console, terminal, unicode=True), written


def test_a_terminal_has_the_milestones_and_below_them_where_the_run_is(tmp_path: Path) -> None:
    session = Session(tmp_path / "project")
    session.walk()
    screen, written = screen_on(True, no_color=True)
    display = display_for(screen, None, False)
    assert isinstance(display, LiveLines)
    with display:
        for event in session.follow():
            display.show(event)
        for event in session.follow(level="FULL"):
            if event.progress == 50:
                break
            display.watch(event)
        screen.err.print(display._at)  # what the refreshing thread draws
    assert re.search(r"\x1b\[[0-9;]*3[0-9]m", written.getvalue()) is None  # no colour
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", written.getvalue())
    assert "100%  ✓ Write it up is done. The run is done." in text
    assert " ━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌  25%  0:00  step 2 of 4, read  2 model calls, 2 tool calls, secrets" in text
    assert max(map(len, text.splitlines())) <= 100
    session.close()


@pytest.mark.parametrize(
    "terminal, detail, as_json, kind",
    [
        (False, None, False, Display),
        (False, "summary", False, Lines),
        (True, None, False, LiveLines),
        (True, "full", True, JsonLines),
    ],
)
def test_who_reads_decides_what_is_shown(terminal: bool, detail: str | None, as_json: bool, kind: type) -> None:
    screen, _ = screen_on(terminal)
    assert type(display_for(screen, detail, as_json)) is kind


# A process that has a session without a model, and the command as a person calls it.
PROGRAM = """
import sys
from pathlib import Path
import skills.lib.agent.agent
from tests.fixtures import fake_agent
agent = fake_agent.FakeAgent(Path(sys.argv[1]), getattr(fake_agent, sys.argv[2]))
skills.lib.agent.agent.Agent = agent
from skills.lib.commands.console.app import lockstep
words = ["--model", "openai:none", "--base-url", "http://127.0.0.1:1", "--project", sys.argv[1], "--detail", "full"]
lockstep.main(["agent", "run", "survey", "what?", *words])
"""


def started(folder: Path, drive: str) -> subprocess.Popen[str]:
    """The command in a process of its own, once its session asks the model."""
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder), drive],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "Model call 1" in line:
            break
    return process


@pytest.mark.slow
def test_a_ledger_that_breaks_meanwhile_ends_the_command_with_what_is_wrong(tmp_path: Path) -> None:
    process = started(tmp_path / "project", "hangs")
    with contextlib.closing(sqlite3.connect(tmp_path / "project" / ".lockstep" / "runs.db")) as ledger:
        ledger.execute("UPDATE events SET detail='{}'")
        ledger.commit()
    _, err = process.communicate(timeout=30)
    assert process.returncode == 4
    assert "has a wrong checksum or field" in err


@pytest.mark.slow
@pytest.mark.parametrize("drive", ["waits", "hangs"])
def test_an_interruption_leaves_the_run_and_says_what_goes_on(tmp_path: Path, drive: str) -> None:
    process = started(tmp_path / "project", drive)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert time.monotonic() - began < 10
    assert out == ""
    said = re.search(r"Interrupted. Run (\w+) stays where it is; this goes on with it:\n  (.*)\n", err)
    assert said is not None
    project = os.path.realpath(tmp_path / "project")
    options = f"--model openai:none --base-url http://127.0.0.1:1 --project {project}"
    assert said[2] == f"lockstep agent run --run {said[1]} {options}"
