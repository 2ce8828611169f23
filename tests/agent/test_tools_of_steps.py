"""Which tools a step offers in a session, and which calls it admits."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from skills.lib.errors import RefusedError, UsageError
from skills.lib.guard.offering import Offer, canonical
from tests.agent.scripted import ScriptedModel
from tests.agent.sessions import agent, honest, project, touch

SOURCE = """from skills.lib.workflow.core import *
from skills.lib.workflow.requirements import *
from skills.lib.workflow.types import *

WORKFLOW = Workflow(
    "named", StepDef("look", "Look", "Look.", {{Outcome.OK: None}}, requires=[Field("seen")], tools={tools})
)
register_workflow(WORKFLOW)
"""


@pytest.mark.req("F-01")
def test_a_step_has_what_it_names_and_the_essential_tools() -> None:
    offer = Offer(["read", "shell(git diff)"])
    assert [name for name in ("read", "write", "shell", "abort", "todowrite", "todoread") if offer.offers(name)] == [
        "read",
        "shell",
        "abort",
        "todowrite",
        "todoread",
    ]
    assert offer.why_not("shell", {"command": "git diff --stat"}) == ""
    for command in (
        "git push",
        "git diff; git push",
        "git -c x=y diff",
        "./git diff",
        "git difftool",
        "",
        None,
        "$(git diff)",
    ):
        assert "only for commands that begin with: git diff" in offer.why_not("shell", {"command": command})
    assert offer.why_not("write", {}) == "this step does not allow write. It allows: read, shell(git diff)"


@pytest.mark.req("F-01")
def test_a_step_names_a_tool_of_a_program_as_it_is() -> None:
    offer = Offer(["read", "tool(lookup)"], {"lookup": "search"})
    assert [name for name in ("read", "lookup", "search", "lookups") if offer.offers(name)] == ["read", "lookup"]
    assert offer.why_not("lookup", {"word": "a"}) == ""
    assert offer.missing(["read", "lookup"]) == []
    assert offer.missing(["read"]) == ["tool(lookup)"]


@pytest.mark.req("F-01")
def test_a_step_that_names_none_has_all_but_those_that_start_skills() -> None:
    assert [name for name in ("write", "anything", "skill_loader", "abort") if Offer([]).offers(name)] == [
        "write",
        "anything",
        "abort",
    ]
    assert [name for name in ("write", "abort") if Offer([], undeclared="essential").offers(name)] == ["abort"]


def test_own_names_are_mapped_to_those_that_steps_use() -> None:
    offer = Offer(["read"], {"fs_read": "read", "load": "skill_loader"})
    assert (offer.offers("fs_read"), offer.offers("fs_write"), offer.missing(["fs_read"])) == (True, False, [])
    assert not Offer([], {"load": "skill_loader"}).offers("load")


@pytest.mark.parametrize(
    "name, ours",
    [
        ("Read", "read"),
        ("Bash", "shell"),
        ("Bash(git diff:*)", "shell(git diff)"),
        ("Bash(ls)", "shell(ls)"),
        ("web", "web"),
    ],
)
def test_names_of_hosts_are_translated(name: str, ours: str) -> None:
    assert canonical(name) == ours


def test_a_tool_that_nobody_has_is_reported_and_a_step_without_any_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = project(tmp_path / "p", "named", SOURCE.format(tools=["write", "web", "ask"]))
    host = agent(folder, ScriptedModel(answer=honest()), tools=[touch("x", folder)])
    with caplog.at_level(logging.WARNING, "lockstep.agent"):
        assert host.advance(host.start("named")).status == "done"
    assert "step look of named names tools that nobody has: web" in caplog.text

    other = project(tmp_path / "q", "named", SOURCE.format(tools=["web"]))
    with pytest.raises(RefusedError, match="works with web, and no tool here is one of these") as refused:
        agent(other, ScriptedModel(answer=honest()), tools=[touch("x", other)]).start("named")
    assert (refused.value.valid, refused.value.remedy) == ("write", "give such a tool, or map one's name by tool_names")


@pytest.mark.parametrize(
    "names, fault",
    [
        (["write", "write"], "2 tools are called write"),
        (["abort"], "the tool abort has the name of one that every session brings"),
        (["report_step"], "the tool report_step has the name of one that every session brings"),
    ],
)
def test_tools_of_which_one_would_hide_another_are_refused(tmp_path: Path, names: list[str], fault: str) -> None:
    tools = [touch("x", tmp_path).model_copy(update={"name": name}) for name in names]
    with pytest.raises(UsageError, match=fault):
        agent(tmp_path, ScriptedModel(answer=honest()), tools=tools)
