"""A skill with ``context: fork`` is done by a sub-agent, in a conversation of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from skills.lib.agent.agent import Agent
from skills.lib.errors import RefusedError
from tests.agent.prose.skills import prose, reported
from tests.agent.scripted import ScriptedModel, calling, in_turn, report


@pytest.mark.req("A-05", "A-05.1", "A-05.2")
def test_a_sub_agent_does_the_skill_in_a_conversation_of_its_own(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "deep", head="context: fork\n")
    model = ScriptedModel(
        answer=in_turn(
            report(record={"objectives": ["one"]}),
            calling(("search", {"glob": "*"})),
            report(record=reported("done:answer", result="Nothing is wrong.")),
        )
    )
    host = Agent(str(folder), model)
    run = host.start("deep", "look deep")
    ended = host.advance(run)
    assert (ended.status, ended.run) == ("done", run)
    assert {call.system.partition('run="')[2].partition('"')[0] for call in model.calls} == {f"{run}.1"}


@pytest.mark.req("A-05.4")
def test_the_parent_has_the_result_and_the_command_of_the_whole_record(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "deep", head="context: fork\n")
    model = ScriptedModel(
        answer=in_turn(
            report(record={"objectives": ["one"]}), report(record=reported("done:answer", result="Nothing is wrong."))
        )
    )
    host = Agent(str(folder), model)
    run = host.start("deep", "look deep")
    ended = host.advance(run)
    assert ended.result == {"result": "Nothing is wrong.", "record": f"lockstep trace {run}.1"}
    assert [(one["objective"], one["status"]) for one in ended.objectives] == [("one", "done")]


def test_a_part_of_a_fork_stops_the_session_and_the_same_command_goes_on_with_it(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "deep", head="context: fork\n")
    first = ScriptedModel(
        answer=in_turn(report(record={"objectives": ["one", "two"]}), report(record=reported("done:answer", "not:")))
    )
    host = Agent(str(folder), first)
    run = host.start("deep", "look deep")
    ended = host.advance(run)
    assert ended.status == "stopped"
    assert ended.reason.startswith("1 of 2 objectives is done")
    assert ended.result == {"result": "That is the result."}
    assert [(one["objective"], one["status"]) for one in ended.objectives] == [("one", "done"), ("two", "not")]
    second = ScriptedModel(answer=in_turn(report(record=reported("done:answer", "done:answer"))))
    again = Agent(str(folder), second)
    assert again.start("deep", "look deep") == run
    assert again.advance(run).status == "done"


@pytest.mark.req("A-05.5")
def test_the_sub_agent_keeps_to_the_model_calls_of_the_skill(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "deep", head="metadata:\n  context: fork\n  max_iterations: 6\n")
    look = calling(("search", {"glob": "*"}))
    model = ScriptedModel(
        answer=in_turn(
            report(record={"objectives": ["one", "two"]}),
            *[look] * 4,
            report(record=reported("done:answer", "not:")),
        )
    )
    host = Agent(str(folder), model)
    assert host.advance(host.start("deep", "look deep")).status == "stopped"
    assert len(model.calls) == 6


@pytest.mark.req("A-05.6")
def test_the_sub_agent_has_the_tools_that_the_skill_allows(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "deep", head="context: fork\nallowed-tools: Read, Write\n")
    model = ScriptedModel(
        answer=in_turn(report(record={"objectives": ["one"]}), report(record=reported("done:answer")))
    )
    host = Agent(str(folder), model)
    assert host.advance(host.start("deep", "look deep")).status == "done"
    assert [name for name in model.calls[1].tool_names if name in ("read", "search", "write", "shell")] == [
        "read",
        "write",
    ]


@pytest.mark.req("A-05.3")
@pytest.mark.parametrize("agent, tools", [("Explore", ["read", "search"]), ("Plan", ["read", "search"])])
def test_a_type_of_agent_narrows_the_tools(tmp_path: Path, agent: str, tools: list[str]) -> None:
    folder = prose(tmp_path / "p", "deep", head=f"context: fork\nagent: {agent}\n")
    assert offered(folder) == tools


@pytest.mark.req("A-05.3")
def test_the_general_type_has_all_tools(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "deep", head="context: fork\nagent: general-purpose\n")
    assert offered(folder) == ["read", "search", "write", "edit", "shell"]


@pytest.mark.req("A-05.3")
def test_a_type_of_the_project_has_its_tools_and_its_words(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "deep", head="context: fork\nagent: auditor\nallowed-tools: Read, Write, Bash\n")
    agents = folder / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "auditor.md").write_text(
        "---\nname: auditor\ndescription: Audits.\ntools: Read, Bash(git log:*)\n---\n\n"
        "You audit, and quote what you saw.\n",
        encoding="utf-8",
    )
    model = ScriptedModel(
        answer=in_turn(
            report(record={"objectives": ["one"]}),
            calling(("shell", {"command": "ls"})),
            report(record=reported("done:answer")),
        )
    )
    host = Agent(str(folder), model)
    assert host.advance(host.start("deep", "look deep")).status == "done"
    assert "You audit, and quote what you saw." in model.calls[0].system
    assert [name for name in model.calls[1].tool_names if name in ("read", "search", "write", "shell")] == [
        "read",
        "shell",
    ]
    assert "only for commands that begin with: git log" in model.calls[2].messages[-1].text


def test_a_fork_inside_a_fork_is_refused_with_the_reason(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "deep", head="context: fork\nagent: splitter\n")
    agents = folder / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "splitter.md").write_text(
        "---\nname: splitter\ndescription: Splits.\ncontext: fork\n---\n\nSplit.\n", encoding="utf-8"
    )
    with pytest.raises(RefusedError, match="a fork inside a fork is not started"):
        Agent(str(folder), ScriptedModel(answer=in_turn())).start("deep", "look deep")


def test_a_type_that_leaves_no_tool_is_refused(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "deep", head="context: fork\nagent: Explore\nallowed-tools: Bash(git:*)\n")
    with pytest.raises(RefusedError, match="no tool is left"):
        Agent(str(folder), ScriptedModel(answer=in_turn())).start("deep", "look deep")


def test_a_session_goes_on_that_was_killed_before_it_took_the_sub_agents_result(tmp_path: Path) -> None:
    folder = prose(tmp_path / "p", "deep", head="context: fork\n")
    model = ScriptedModel(
        answer=in_turn(report(record={"objectives": ["one"]}), report(record=reported("done:answer")))
    )
    host = Agent(str(folder), model)
    run = host.start("deep", "look deep")
    assert host.advance(f"{run}.1").status == "done"
    again = Agent(str(folder), ScriptedModel(answer=in_turn()))
    assert again.advance(run).status == "done"


def offered(folder: Path) -> list[str]:
    """The tools of a project that the sub-agent of the skill ``deep`` works with."""
    model = ScriptedModel(
        answer=in_turn(report(record={"objectives": ["one"]}), report(record=reported("done:answer")))
    )
    host = Agent(str(folder), model)
    assert host.advance(host.start("deep", "look deep")).status == "done"
    return [name for name in model.calls[1].tool_names if name in ("read", "search", "write", "edit", "shell")]
