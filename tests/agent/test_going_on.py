"""A session goes on: with its conversation, without it, behind its run, after a failure, and alone."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from skills.lib import paths
from skills.lib.agent import runs
from skills.lib.agent.kept.lease import lease
from skills.lib.agent.models.model_errors import ModelError
from skills.lib.errors import LedgerError, RefusedError
from skills.lib.model.run import Request
from tests.agent.scripted import Answer, ScriptedModel, calling, in_turn, report
from tests.agent.sessions import agent, honest, project, touch


def never(messages: list[Any], tools: list[Any]) -> Answer:
    return report(record={})


def conversations(folder: Path) -> Path:
    return Path(paths.home(str(folder))) / "agent" / "checkpoints.db"


def test_a_conversation_that_is_lost_is_begun_anew_where_the_run_stands(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    model = ScriptedModel(answer=in_turn(report(record={"thing": "a"}), *[never([], [])] * 3))
    host = agent(folder, model, max_iterations=3)
    run = host.start("plain", "tidy up")
    assert host.advance(run).step == "again"
    for file in conversations(folder).parent.glob("checkpoints.db*"):
        file.unlink()
    model.answer = honest(outcome="ok")
    assert host.advance(run).status == "done"
    first = model.calls[-1].messages
    assert [message.type for message in first] == ["system", "human"]
    assert "is lost" in first[1].text
    assert 'id="again"' in first[0].text
    assert "<task>tidy up</task>" in first[0].text


def test_a_conversation_that_is_behind_its_run_is_told_so(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "tour3", THREE)
    model = ScriptedModel(answer=in_turn(report(record={"one": "a"}), *[never([], [])] * 2))
    host = agent(folder, model, max_iterations=2)
    run = host.start("tour3")
    assert host.advance(run).step == "second"
    runner, workflow = runs.served(str(folder), run)
    for turn, name in ((2, "two"), (3, "three")):
        runner.advance(workflow, run, Request("next", turn=turn, records={name: "by hand"}))
    runner.close()
    model.answer = honest()
    assert host.advance(run).status == "done"
    assert "moved on without this conversation" in model.calls[-1].system
    assert 'id="fourth"' in model.calls[-1].system


THREE = """from skills.lib.workflow.core import *
from skills.lib.workflow.requirements import *
from skills.lib.workflow.types import *

WORKFLOW = Workflow(
    "tour3",
    StepDef("first", "First", "Do it.", {Outcome.OK: "second"}, requires=[Field("one")]),
    StepDef("second", "Second", "Do it.", {Outcome.OK: "third"}, requires=[Field("two")]),
    StepDef("third", "Third", "Do it.", {Outcome.OK: "fourth"}, requires=[Field("three")]),
    StepDef("fourth", "Fourth", "Do it.", {Outcome.OK: None}, requires=[Field("four")]),
)
register_workflow(WORKFLOW)
"""


def test_one_session_drives_a_run_at_a_time(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    host = agent(folder, ScriptedModel(answer=honest(outcome="ok")))
    run = host.start("plain")
    with lease(host.home, run), pytest.raises(RefusedError, match="another session drives run"):
        host.advance(run)
    assert host.advance(run).status == "done"


def test_a_model_that_fails_stops_the_session_in_plain_words(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    model = ScriptedModel(answer=in_turn(ModelError("the model is overloaded", remedy="try again later")))
    host = agent(folder, model)
    run = host.start("plain")
    ended = host.advance(run)
    assert (ended.status, ended.step) == ("stopped", "note")
    assert ended.reason == "the model is overloaded. To go on: try again later."
    model.answer = honest(outcome="ok")
    assert host.advance(run).status == "done"


def test_a_session_that_is_cancelled_stops_before_its_next_call(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    model = ScriptedModel(answer=honest(outcome="ok"))
    host = agent(folder, model)
    run = host.start("plain")

    def cancelling(messages: list[Any], tools: list[Any]) -> Answer:
        host.cancel(run)
        return report(record={"thing": "a"})

    model.answer = cancelling
    ended = host.advance(run)
    assert (ended.status, ended.step, ended.reason) == ("stopped", "again", "The session was cancelled.")
    model.answer = honest(outcome="ok")
    assert host.advance(run).status == "done"
    assert len(model.calls) == 2


def test_no_tool_of_an_answer_runs_once_its_session_is_cancelled(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    model, done = ScriptedModel(answer=honest(outcome="ok")), tmp_path / "done.txt"
    host = agent(folder, model, tools=[touch("", tmp_path)])
    run = host.start("plain")

    def cancelling(messages: list[Any], tools: list[Any]) -> Answer:
        host.cancel(run)
        return calling(("write", {"path": "done.txt", "text": "a"}))

    model.answer = cancelling
    assert host.advance(run).reason == "The session was cancelled."
    assert not done.exists()
    model.answer = in_turn(
        calling(("write", {"path": "done.txt", "text": "a"})), report(record={"thing": "a"}), report(outcome="ok")
    )
    assert host.advance(run).status == "done"
    assert done.read_text(encoding="utf-8") == "a\n"


def test_a_session_in_an_event_loop(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    host = agent(folder, ScriptedModel(answer=honest(outcome="ok")))
    run = host.start("plain")
    assert asyncio.run(host.aadvance(run)).status == "done"


def test_damaged_conversations_are_told_with_what_to_do(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    host = agent(folder, ScriptedModel(answer=honest(outcome="ok")))
    run = host.start("plain")
    conversations(folder).parent.mkdir(exist_ok=True)
    conversations(folder).write_bytes(b"no database at all, but long enough to be read as the header of one\n" * 20)
    with pytest.raises(LedgerError, match=r"checkpoints\.db cannot be used") as raised:
        host.advance(run)
    assert "move it away" in raised.value.remedy
    conversations(folder).unlink()
    assert host.advance(run).status == "done"


@pytest.mark.skipif(os.name == "nt", reason="modes of files are those of POSIX")
def test_what_a_session_keeps_is_its_owners_alone(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    host = agent(folder, ScriptedModel(answer=honest(outcome="ok")))
    host.advance(host.start("plain"))
    kept = [one for one in conversations(folder).parent.rglob("*") if one.is_file()]
    assert {one.name for one in kept} >= {"checkpoints.db", "activity.db"}
    assert [one.name for one in kept if one.stat().st_mode & 0o077] == []


def test_the_same_task_goes_on_with_its_run_and_begins_anew_once_that_was_told(tmp_path: Path) -> None:
    folder = project(tmp_path / "p", "plain")
    host = agent(folder, ScriptedModel(answer=honest(outcome="ok")))
    run = host.start("plain", "tidy up")
    assert host.start("plain", "tidy up") == run
    assert host.start("plain", "something else") != run
    newer = host.start("plain", "tidy up", new=True)
    assert newer != run
    assert host.start("plain", "tidy up") == newer
    host.advance(newer)
    assert host.start("plain", "tidy up") == run
    host.advance(run)
    assert host.start("plain", "tidy up") not in (run, newer)
