"""An agent follows a workflow with words of its own: what is printed, what is refused, every transition taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib.runtime import loading
from skills.lib.testing.agent import Agent
from skills.lib.testing.transitions import check_walk
from skills.lib.testing.walks import every_walk
from tests.fixtures.skill import install, source_of

CHORES = source_of(
    "chores",
    """
    StepDef("pick", "Pick a task", next={"ok": "work", "nothing-to-do": None},
            when={"ok": "there is a task", "nothing-to-do": "the list is empty"}),
    StepDef("work", "Do it", next={"more-tasks": "pick", "ok": "ask", "no-time": None},
            when={"more-tasks": "the list has another", "ok": "it has none", "no-time": "it is late"},
            max_iterations=2),
    StepDef("ask", "Ask", next={"ok": "close", "put-off": None},
            handler=Person("Close it?", {"yes": "ok", "in May": "put-off"})),
    StepDef("close", "Close", next={"closed": None}, when={"closed": "it is"}),
    """,
    "ends={'no-time': 'fail'}",
)


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("LOCKSTEP_HOME", raising=False)
    return install(tmp_path, "chores", CHORES)


@pytest.mark.req("E-07")
def test_an_agent_sees_own_words_with_where_they_lead(script: Path, tmp_path: Path) -> None:
    agent = Agent(script, tmp_path)
    block = agent.follow(agent.open(), outcome="ok")
    ways = block.root.find("INVOKE_AFTER")
    assert ways is not None
    assert [(way.get("name"), way.get("to"), way.text) for way in ways] == [
        ("more-tasks", "pick", "the list has another (at most 2 iterations, then a person decides)"),
        ("ok", "ask", "it has none"),
        ("no-time", "done", "it is late"),
    ]
    refused = agent.run_command(block.command({"outcome": "more-task"}))
    assert refused.code == "wrong-outcome"
    assert refused.why == "Step work has no outcome 'more-task'."
    assert [choice.text for choice in refused.root.iterfind("VALID/choice")] == ["more-tasks", "ok", "no-time"]


@pytest.mark.req("E-07")
def test_the_only_way_out_needs_no_report_and_a_failing_word_fails(script: Path, tmp_path: Path) -> None:
    agent = Agent(script, tmp_path)
    block = agent.follow(agent.open(), outcome="ok")
    end = agent.follow(block, outcome="no-time")
    assert (end.kind, end.root.get("status")) == ("done", "failed")
    asked = agent.follow(agent.follow(agent.open("--new"), outcome="ok"), outcome="ok")
    last = agent.answer(asked, "yes")
    assert last.step == "close"
    assert agent.follow(last).root.get("status") == "done"


@pytest.mark.req("E-07")
@pytest.mark.slow
def test_every_transition_by_an_own_word_is_taken(script: Path, tmp_path: Path) -> None:
    walks = every_walk(loading.workflow_of_script(str(script)))
    assert {str(leg) for walk in walks for leg in walk.legs} == {
        "pick -ok-> work",
        "pick -nothing-to-do-> done",
        "work -more-tasks-> pick",
        "work -ok (accept)-> ask",
        "work -more-tasks (revise)-> pick",
        "work -ok-> ask",
        "work -no-time-> done",
        "ask -ok (yes)-> close",
        "ask -put-off (in May)-> done",
        "close -closed-> done",
    }
    for at, walk in enumerate(walks):
        project = tmp_path / str(at)
        project.mkdir()
        check_walk(script, walk, project)
