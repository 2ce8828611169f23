"""Following, answering and cancelling a session beside the process that drives it."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

from skills.lib import terminal
from skills.lib.agent.agent import Agent
from skills.lib.agent.configuration.lockstep_toml import Configuration, Visibility
from skills.lib.commands.console.app import lockstep
from skills.lib.errors import UsageError
from tests.agent import sessions
from tests.agent.scripted import ScriptedModel, calling, report
from tests.agent.watch.playing import played
from tests.fixtures.processes import ended, forked

SOURCE = """
from lockstep import Field, Outcome, StepDef, Workflow, register_workflow

LOOK = StepDef("look", "Look around", ["Look around."], {Outcome.OK: "tell"}, requires=[Field("seen")])
TELL = StepDef("tell", "Tell", ["Tell it."], {Outcome.OK: None}, requires=[Field("told")])
WORKFLOW = register_workflow(Workflow("hold", LOOK, TELL))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = sessions.project(tmp_path / "project", "hold", SOURCE)
    (folder / "data.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    return folder


def todos(**status: str) -> AIMessage:
    return calling(("todowrite", {"todos": [{"content": text, "status": one} for text, one in status.items()]}))


def worked() -> ScriptedModel:
    """A model that reads a file, keeps a list, fails once, and reports."""
    return played(
        calling(("read", {"path": "data.csv"}), text="I need the data first"),
        todos(Rows="completed", Columns="in_progress"),
        calling(("shell", {"command": "cat nothing.csv"})),
        todos(Rows="completed", Columns="completed"),
        report(record={"seen": "two columns"}),
        report(record={"told": "one row"}),
    )


@pytest.fixture
def run(project: Path) -> str:
    agent = Agent(str(project), worked())
    run = agent.start("hold", "count the rows")
    assert agent.advance(run).status == "done"
    return run


@pytest.fixture
def cli(project: Path) -> Callable[..., Result]:
    def call(*words: str) -> Result:
        return CliRunner().invoke(lockstep, ["agent", *words, "--project", str(project)], prog_name="lockstep")

    return call


@pytest.mark.req("A-04.1")
@pytest.mark.req("A-04.5")
@pytest.mark.req("A-07.5")
def test_milestones_are_numbered_and_each_shows_its_calls(cli: Callable[..., Result], run: str) -> None:
    summary = cli("follow", run)
    assert summary.exit_code == 0, summary.stderr
    assert summary.stdout.splitlines() == [
        "  0%  ▸ Task: count the rows",
        "  0%  ▸ Started. Step 1 of 2: Look around.",
        " 23%  ✓ 1. Rows (1 of 2)",
        " 47%  ✓ 2. Columns (2 of 2)",
        " 50%  ✓ 3. Look around is done: 5 model calls, 4 tool calls (1 without success). Step 2 of 2: Tell.",
        "100%  ✓ 4. Tell is done: 1 model call. The run is done.",
    ]
    second = cli("follow", run, "--milestone", "2").stdout
    assert 'shell(command="cat nothing.csv")' in second
    assert "I need the data first" not in second
    assert "I need the data first" in cli("follow", run, "--milestone", "1").stdout
    missing = cli("follow", run, "--milestone", "5")
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert "1 to 4" in missing.stderr


@pytest.mark.req("A-07.4")
@pytest.mark.req("A-07.2")
def test_a_program_reads_events_and_goes_on_from_any_cursor(cli: Callable[..., Result], run: str) -> None:
    lines = cli("follow", run, "--json", "--detail", "full").stdout.splitlines()
    events = [json.loads(line) for line in lines]
    assert {event["visibility"] for event in events} == {"FULL", "SUMMARY"}
    for at in (0, 5, len(events) - 1):
        rest = cli("follow", run, "--json", "--detail", "full", "--after", events[at]["cursor"]).stdout.splitlines()
        assert rest == lines[at + 1 :]
    shares = [event["progress"] for event in events]
    assert shares == sorted(shares)


@pytest.mark.req("A-04.2")
@pytest.mark.req("A-07.3")
def test_a_role_sees_what_the_operator_lets_it_see(project: Path, cli: Callable[..., Result], run: str) -> None:
    def texts(*words: str) -> str:
        return cli("follow", run, *words).stdout

    assert "I need the data first" in texts("--role", "DEVELOPER")
    assert "I need the data first" not in texts("--role", "END_USER")
    assert texts("--role", "end_user", "--detail", "full") == texts("--role", "end_user")
    (project / "lockstep.toml").write_text(
        '[agent.visibility]\ndefault_visibility = "SUMMARY"\nroles = { END_USER = "HIDDEN", DEVELOPER = "SUMMARY" }\n',
        encoding="utf-8",
    )
    assert texts("--role", "END_USER").splitlines() == ["  0%  ▸ Started.", "100%  ✓ Ended."]
    assert texts("--role", "DEVELOPER") == texts()
    assert "I need the data first" not in texts("--detail", "full")
    assert "I need the data first" in texts("--role", "ADMIN")


@pytest.mark.req("A-04.3")
def test_a_tool_of_a_type_that_is_summed_up_shows_that_it_was_called_and_how_it_ended(project: Path) -> None:
    configured = Configuration(visibility=Visibility(sensitive_tools={"BASH": "SUMMARY"}))
    agent = Agent(str(project), worked(), configuration=configured)
    run = agent.start("hold", "count the rows")
    agent.advance(run)
    events = [event for event in agent.follow(run, role="ADMIN") if event.data.get("tool") == "shell"]
    assert [event.text for event in events] == ["shell was called.", "shell failed."]
    assert all("nothing.csv" not in str(event.fields()) for event in events)


def test_an_unknown_role_or_level_is_refused(project: Path, run: str) -> None:
    agent = Agent(str(project), worked())
    with pytest.raises(UsageError, match="no role 'USER'"):
        list(agent.follow(run, role="USER"))
    with pytest.raises(UsageError, match="no level of events"):
        list(agent.follow(run, level="SOME"))


@pytest.mark.req("A-07")
@pytest.mark.req("A-07.1")
def test_an_event_is_read_while_what_it_tells_goes_on(project: Path) -> None:
    seen = threading.Event()

    @tool
    def wait() -> str:
        """Wait until somebody has read that this was called."""
        return "somebody read it" if seen.wait(60) else "nobody read it"

    model = played(calling(("wait", {})), report(record={"seen": "x"}), report(record={"told": "x"}))
    agent = Agent(str(project), model, tools=[wait])
    run = agent.start("hold", "wait")
    kinds: list[str] = []

    def read() -> None:
        for event in agent.follow(run, level="FULL", wait=True):
            kinds.append(event.type)
            if event.kind == "call":
                seen.set()

    reader = threading.Thread(target=read)
    reader.start()
    assert agent.advance(run).status == "done"
    reader.join(60)
    assert [event.text for event in agent.follow(run, level="FULL") if event.kind == "result"] == [
        "wait ended: somebody read it"
    ]
    assert (kinds[0], kinds[-1], set(kinds)) == ("message", "done", {"status", "message", "done"})


@pytest.mark.slow
def test_a_session_in_another_process_is_cancelled_and_the_command_it_waits_for_ends(
    project: Path, cli: Callable[..., Result], tmp_path: Path
) -> None:
    model = played(calling(("shell", {"command": "sleep 60"})))
    run = Agent(str(project), model).start("hold", "wait")
    said = tmp_path / "said"

    def drive() -> None:
        outcome = Agent(str(project), model).advance(run)
        said.write_text(f"{outcome.status}: {outcome.reason}", encoding="utf-8")

    process = forked(drive)
    agent = Agent(str(project))
    end = time.monotonic() + 60
    while not any(event.kind == "call" for event in agent.follow(run, level="FULL")) and time.monotonic() < end:
        time.sleep(0.1)
    begin = time.monotonic()
    cancelled = cli("cancel", run, "--json")
    took = time.monotonic() - begin
    assert ended(process) == 0
    assert cancelled.exit_code == 0, cancelled.stderr
    assert json.loads(cancelled.stdout) == {"run": run, "ended": True, "step": "look"}
    assert took < 10
    assert said.read_text(encoding="utf-8") == "stopped: The session was cancelled."
    assert "Somebody cancelled the session." in cli("follow", run).stdout
    assert Agent(str(project), worked()).advance(run).status == "done"


def test_a_run_that_nobody_drives_has_no_session_to_cancel(project: Path, cli: Callable[..., Result]) -> None:
    run = Agent(str(project), worked()).start("hold", "wait")
    refused = cli("cancel", run)
    assert refused.exit_code == 3
    assert "nobody drives run" in refused.stderr
    assert "lockstep abandon" in refused.stderr


ASKS = """
from lockstep import Field, Outcome, StepDef, Workflow, person, register_workflow

LOOK = StepDef("look", "Look", ["Look."], {Outcome.OK: "ask"}, requires=[Field("seen")])
ASK = StepDef("ask", "Ask", ["Ask."], {Outcome.OK: None}, person("Is it right?", choices={"yes": Outcome.OK}))
WORKFLOW = register_workflow(Workflow("hold", LOOK, ASK))
"""


def test_an_answer_is_recorded_as_a_persons_and_says_what_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = sessions.project(tmp_path / "asking", "hold", ASKS)
    agent = Agent(str(folder), played(report(record={"seen": "x"})))
    run = agent.start("hold", "look")
    assert agent.advance(run).status == "waiting"
    words = ["agent", "answer", run, "yes", "--project", str(folder)]
    refused = CliRunner().invoke(lockstep, words)
    assert refused.exit_code == 3
    monkeypatch.setattr(terminal, "why_no_person", lambda: "")
    secret = CliRunner().invoke(lockstep, [*words, "--reason", "password: hunter2"])
    assert secret.exit_code == 3
    assert "the answer has a secret in it: secret" in secret.stderr
    answered = CliRunner().invoke(lockstep, words)
    assert answered.exit_code == 0, answered.stderr
    assert f"Recorded as a person's answer of run {run} at ask: yes." in answered.stdout
    assert os.path.isdir(folder)


def test_an_answer_goes_on_with_the_session_if_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = ASKS.replace('["Ask."], {Outcome.OK: None}', '["Ask."], {Outcome.OK: "tell"}').replace(
        "LOOK, ASK", 'LOOK, ASK, StepDef("tell", "Tell", ["Tell."], {Outcome.OK: None}, requires=[Field("told")])'
    )
    folder = sessions.project(tmp_path / "asking", "hold", more)
    agent = Agent(str(folder), played(report(record={"seen": "x"})))
    run = agent.start("hold", "look")
    assert agent.advance(run).status == "waiting"
    model = played(report(record={"told": "all of it"}))
    monkeypatch.setenv("LOCKSTEP_MODEL", "openai:none")
    monkeypatch.setattr("skills.lib.agent.models.chat_models.chat_model", lambda *given, **named: model)
    monkeypatch.setattr(terminal, "why_no_person", lambda: "")
    words = ["agent", "answer", run, "yes", "--go-on", "--project", str(folder)]
    answered = CliRunner().invoke(lockstep, words)
    assert answered.exit_code == 0, answered.stderr
    assert answered.stdout.splitlines()[-1] == "all of it"
    assert f"Run {run} is done." in answered.stderr
