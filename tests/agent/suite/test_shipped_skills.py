"""Shipped skills are followed in a session to their end, with what an agent reports who does them well."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from skills.lib.agent.agent import Agent
from tests.agent.scripted import ScriptedModel, report
from tests.skills import test_decision_critic as decision_critic
from tests.skills import test_leon_writing_style as leon_writing_style
from tests.skills import test_problem_analysis as problem_analysis

PROBLEM = ("UNCLEAR", "TESTABLE", "RIVALS", "DOUBT", "SETTLED", "CAUSE", "REPORT")
REPORTS: dict[str, tuple[str, list[Any]]] = {
    "problem-analysis": ("it is slow, please fix", [getattr(problem_analysis, name) for name in PROBLEM]),
    "leon-writing-style": (str(leon_writing_style.WANTED["request"]), list(leon_writing_style.WALK)),
    "decision-critic": (decision_critic.DECISION, list(decision_critic.STEPS)),
}
RESULT = {"problem-analysis": "report", "leon-writing-style": "summary", "decision-critic": "report"}


@pytest.mark.parametrize("skill", REPORTS)
def test_a_shipped_skill_is_followed_to_its_end(tmp_path: Path, skill: str) -> None:
    task, values = REPORTS[skill]
    left = list(values)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".lockstep").mkdir()
    shutil.copy(leon_writing_style.FOLDER / "resources" / "style-profile.md", tmp_path / ".lockstep")
    (tmp_path / "note.draft.md").write_text(leon_writing_style.DRAFT_TEXT, encoding="utf-8")
    (tmp_path / "note.text.md").write_text(leon_writing_style.TEXT, encoding="utf-8")

    def answer(messages: list[BaseMessage], tools: list[dict[str, Any]]) -> AIMessage:
        schema = next(tool["parameters"] for tool in tools if tool["name"] == "report_step")["properties"]
        given = left.pop(0)
        known = {part: schema.get(part, {}).get("properties", {}) for part in ("record", "parameters")}
        return report(**{part: {name: given[name] for name in names if name in given} for part, names in known.items()})

    model = ScriptedModel(answer=answer)
    host = Agent(str(tmp_path), model)
    ended = host.advance(host.start(skill, task))
    assert (ended.status, left) == ("done", [])
    assert len(model.calls) == len(values)
    assert values[-1][RESULT[skill]] == ended.result[RESULT[skill]]
