"""Planted secrets and hidden content stand nowhere in what a session keeps, logs or shows."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool, tool

from skills.lib import paths
from skills.lib.agent.agent import Agent
from skills.lib.agent.configuration.lockstep_toml import Configuration, Visibility
from skills.lib.errors import RefusedError
from tests.agent import sessions
from tests.agent.scripted import Answer, calling, report
from tests.agent.watch.planted import PERSONAL, SECRETS
from tests.agent.watch.playing import played

SOURCE = """
from lockstep import Field, Outcome, StepDef, Workflow, register_workflow

LOOK = StepDef("look", "Look", ["Look around."], {Outcome.OK: "tell"}, requires=[Field("seen")])
TELL = StepDef("tell", "Tell", ["Tell it."], {Outcome.OK: None}, requires=[Field("told")])
WORKFLOW = register_workflow(Workflow("hold", LOOK, TELL))
"""
TEXTS = [text for text, _ in SECRETS.values()]
PLANTED = [secret for _, secret in SECRETS.values()]
TEXT = "\n".join([*(text for text, _ in SECRETS.values()), *(one for several in PERSONAL.values() for one in several)])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return sessions.project(tmp_path / "project", "hold", SOURCE)


def kept(project: Path) -> bytes:
    """All that is in the folder of the ledger, and each text of JSON in it as it reads."""
    return b"\n".join(path.read_bytes() for path in sorted(Path(paths.home(str(project))).rglob("*")) if path.is_file())


def leaked(project: Path, *texts: str) -> list[str]:
    """The planted secrets that stand in what was kept, or in these texts, also as JSON and in other escapes."""
    everything = kept(project) + "\n".join(texts).encode()
    forms = {one: {one, json.dumps(one)[1:-1], repr(one)[1:-1]} for one in PLANTED}
    lines = {one: one.splitlines() for one in PLANTED if "\n" in one}
    return [
        one
        for one in PLANTED
        if any(form.encode() in everything for form in forms[one])
        or any(line.encode() in everything for line in lines.get(one, ())[1:-1])
    ]


@pytest.mark.req("A-04.4")
@pytest.mark.req("A-04")
def test_planted_secrets_of_every_kind_are_nowhere_after_a_session(
    project: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    (project / "notes.txt").write_text(TEXT, encoding="utf-8")
    (project / "fails.py").write_text(
        "import sys\nsys.stderr.write(open('notes.txt').read())\nsys.exit(3)\n", encoding="utf-8"
    )
    model = played(
        calling(("read", {"path": "notes.txt"}), text=f"I look at\n{TEXT}"),
        calling(("shell", {"command": "cat notes.txt"}), ("shell", {"command": "python3 fails.py"})),
        calling(("search", {"pattern": "[a-z]", "path": "notes.txt"}), ("read", {"path": f"no/{TEXTS[17]}"})),
        calling(
            ("todowrite", {"todos": [{"content": text[:499], "status": "pending"} for text, _ in SECRETS.values()]})
        ),
        calling(("write", {"path": ".env", "content": TEXT})),
        calling(("edit", {"path": "notes.txt", "old": TEXTS[2], "new": TEXTS[3]})),
        calling(("shell", {"command": "cat", "wrong": TEXT}), ("nonsense", {"text": TEXT})),
        AIMessage(TEXT),
        report(record={"seen": TEXT}),
        report(record={"told": {"password": "plain-word", "rest": TEXT}}),
        report(record={"told": TEXT}),
    )
    agent = Agent(str(project), model)
    run = agent.start("hold", "look around")
    outcome = agent.advance(run)
    shown = [event.text + json.dumps(event.data) for event in agent.follow(run, level="FULL")]
    assert outcome.status == "done"
    assert (project / ".env").read_text(encoding="utf-8") == TEXT  # a call is made with what the model gave
    given = "".join(message.text for call in model.calls for message in call.messages if message.type == "tool")
    streams = capfd.readouterr()
    assert leaked(project, *shown, caplog.text, streams.out, streams.err, given, str(outcome)) == []
    assert b"[redacted: github-token]" in kept(project)
    assert b"jane.doe@example.com" not in kept(project)


def test_a_request_with_a_secret_is_refused_with_its_kind_before_anything_is_written(project: Path) -> None:
    agent = Agent(str(project), played())
    for kind, (text, secret) in SECRETS.items():
        with pytest.raises(RefusedError) as refused:
            agent.start("hold", f"use this: {text}")
        assert kind in str(refused.value)
        assert secret not in str(refused.value)
    with pytest.raises(RefusedError, match="github-token"):
        agent.start("hold", parameters={"depth": SECRETS["github-token"][1]})
    assert not Path(paths.home(str(project))).exists()


def test_a_file_never_gets_a_mark(project: Path) -> None:
    (project / "config.py").write_text(f'KEY = "{SECRETS["github-token"][1]}"\nDEPTH = 1\n', encoding="utf-8")
    (project / "docs.md").write_text("A mark is [redacted: email].\n", encoding="utf-8")
    mark = 'KEY = "[redacted: github-token]"\nDEPTH = 2\n'
    model = played(
        calling(("read", {"path": "config.py"})),
        calling(("write", {"path": "config.py", "content": mark})),
        calling(("edit", {"path": "config.py", "old": "DEPTH = 1", "new": "DEPTH = 2 # [redacted: github-token]"})),
        calling(("shell", {"command": "echo '[redacted: github-token]' > config.py"})),
        calling(("edit", {"path": "config.py", "old": "DEPTH = 1", "new": "DEPTH = 2"})),
        calling(("edit", {"path": "docs.md", "old": "A mark is [redacted: email]", "new": "It is [redacted: email]"})),
        report(record={"seen": "x"}),
        report(record={"told": "x"}),
    )
    agent = Agent(str(project), model)
    assert agent.advance(agent.start("hold", "look")).status == "done"
    secret = SECRETS["github-token"][1]
    assert (project / "config.py").read_text(encoding="utf-8") == f'KEY = "{secret}"\nDEPTH = 2\n'
    assert (project / "docs.md").read_text(encoding="utf-8") == "It is [redacted: email].\n"
    refusals = [message.text for message in model.calls[4].messages if message.type == "tool"][1:]
    assert all("no file gets such a mark" in text for text in refusals)


@tool
def query(sql: str) -> str:
    """Ask the database."""
    return "Erika Mustermann, 4711-HIDDEN-ROW"


HIDES = Configuration(
    visibility=Visibility(sensitive_tools={"DATABASE": "HIDDEN"}), tool_types={"query": ("DATABASE",)}
)
HIDDEN = (b"Mustermann", b"4711-HIDDEN-ROW", b"SELECT name FROM people")
ASK = calling(("query", {"sql": "SELECT name FROM people"}), text="I ask SELECT name FROM people")


@pytest.mark.req("A-04.3")
def test_what_is_hidden_is_nowhere_and_its_model_sees_it_whole(project: Path) -> None:
    model = played(
        ASK, AIMessage("It is Mustermann."), report(record={"seen": "one row"}), report(record={"told": "done"})
    )
    tools: list[BaseTool] = [query]
    agent = Agent(str(project), model, tools=tools, configuration=HIDES)
    run = agent.start("hold", "look around")
    assert agent.advance(run).status == "done"
    assert [one for one in HIDDEN if one in kept(project)] == []
    second = model.calls[1].messages
    assert [message.text for message in second if message.type == "tool"] == ["Erika Mustermann, 4711-HIDDEN-ROW"]
    assert second[2].tool_calls[0]["args"] == {"sql": "SELECT name FROM people"}  # type: ignore[attr-defined]
    shown = [event.text for event in agent.follow(run, level="FULL")]
    assert [text for text in shown if "hidden" in text] == [
        "thought: hidden",
        "query: hidden",
        "query ended: hidden",
        "thought: hidden",
    ]


def test_a_step_whose_conversation_held_hidden_content_begins_anew_after_a_crash(project: Path) -> None:
    def dies(messages: list[BaseMessage]) -> Answer:
        raise KeyboardInterrupt

    agent = Agent(str(project), played(ASK, dies), tools=[query], configuration=HIDES)
    run = agent.start("hold", "look around")
    with pytest.raises(KeyboardInterrupt):
        agent.advance(run)
    model = played(ASK, report(record={"seen": "one row"}), report(record={"told": "done"}))
    assert Agent(str(project), model, tools=[query], configuration=HIDES).advance(run).status == "done"
    first = model.calls[0].messages
    assert [message.type for message in first] == ["system", "human"]
    assert first[1].text.startswith("This step begins anew")
    assert [one for one in HIDDEN if one in kept(project)] == []


def test_a_call_whose_arguments_were_redacted_is_not_made_after_a_crash(project: Path) -> None:
    made: list[str] = []

    @tool
    def send(text: str) -> str:
        """Send it."""
        made.append(text)
        raise KeyboardInterrupt

    secret = SECRETS["github-token"][1]
    first = Agent(str(project), played(calling(("send", {"text": secret}))), tools=[send])
    run = first.start("hold", "look around")
    with pytest.raises(KeyboardInterrupt):
        first.advance(run)
    model = played(report(record={"seen": "x"}), report(record={"told": "x"}))
    assert Agent(str(project), model, tools=[send]).advance(run).status == "done"
    assert made == [secret]
    told = [message.text for message in model.calls[0].messages if message.type == "tool"]
    assert len(told) == 1
    assert "make the call again" in told[0]
