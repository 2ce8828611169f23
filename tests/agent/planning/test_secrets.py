"""Secrets and hidden tools in a plan's runs: nothing of them is kept, and no file gets a mark."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from skills.lib.agent import planning
from skills.lib.agent.planning import cases
from skills.lib.errors import RefusedError
from tests.agent.planning.plan_runs import GOAL, SIGNAL, agent, calls_at, executed, honest, project
from tests.agent.scripted import Answer, calling

# Made of two parts, so that no scanner takes it for a real one.
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture(autouse=True)
def own_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LOCKSTEP_DATA", str(tmp_path / "data"))


def test_a_goal_and_a_feedback_with_a_secret_are_refused(tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    host = agent(folder, honest())
    with pytest.raises(RefusedError, match="the goal has a secret in it"):
        planning.start(host, "books", f"{GOAL} with {TOKEN}")
    host, run, _ = executed(folder, honest())
    with pytest.raises(RefusedError, match="the feedback has a secret in it"):
        planning.feedback(host, run, f"use {TOKEN}")
    assert TOKEN not in cases.read(str(folder), "books")


def test_a_secret_in_the_projects_texts_and_in_what_an_optimizer_says_reaches_nobody(tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    (folder / "CLAUDE.md").write_text(f"The token is {TOKEN}.\n", encoding="utf-8")
    model = honest(by=lambda step, messages: f"{SIGNAL} I found {TOKEN}." if step == "find-do" else None)
    _, _, ended = executed(folder, model)
    assert ended.status == "done"
    assert not [call for call in model.calls if TOKEN in call.system]
    assert "[redacted: github-token]" in calls_at(model, "find-check")[0].system


def test_a_command_with_a_mark_of_a_redaction_is_refused(tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    text = {"script": "scripts/write_file.py", "args": ["SUMMARY.md"], "stdin_text": "token [redacted: github-token]"}

    def by(step: str, messages: list[BaseMessage]) -> Answer | None:
        first = not any(isinstance(one, AIMessage) for one in messages)
        return calling(("safe_py_runner", text)) if step == "write-do" and first else None

    model = honest(by=by)
    executed(folder, model)
    [result] = [one.text for one in calls_at(model, "write-do")[1].messages if isinstance(one, ToolMessage)]
    assert "stands in place of a text that you were not shown" in result
    assert not (folder / "SUMMARY.md").exists()


def test_a_hidden_tool_leaves_no_arguments_in_the_cases(tmp_path: Path) -> None:
    folder = project(tmp_path / "p")
    settings = (
        '[agent.tool_types]\nsafe_cli_executor = "DATABASE"\n'
        '[agent.visibility]\nsensitive_tools = [{ type = "DATABASE", visibility = "HIDDEN" }]\n'
    )
    (folder / "lockstep.toml").write_text(settings, encoding="utf-8")
    _, _, ended = executed(folder, honest())
    assert ended.status == "done"
    assert 'calls: safe_cli_executor "hidden" | key outputs' in cases.read(str(folder), "books")
