"""Shipped skills are followed in a session to their end, with what an agent reports who does them well."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from skills.lib.agent.agent import Agent
from skills.lib.agent.results import SessionResult
from tests.agent.scripted import ScriptedModel, report
from tests.skills import test_decision_critic as decision_critic
from tests.skills import test_deepthink as deepthink
from tests.skills import test_leon_writing_style as leon_writing_style
from tests.skills import test_problem_analysis as problem_analysis
from tests.skills import test_prompt_engineer as prompt_engineer

PROBLEM = ("UNCLEAR", "TESTABLE", "RIVALS", "DOUBT", "SETTLED", "CAUSE", "REPORT")
REPORTS: dict[str, tuple[str, list[Any]]] = {
    "problem-analysis": ("it is slow, please fix", [getattr(problem_analysis, name) for name in PROBLEM]),
    "leon-writing-style": (str(leon_writing_style.WANTED["request"]), list(leon_writing_style.WALK)),
    "decision-critic": (decision_critic.DECISION, list(decision_critic.STEPS)),
}
RESULT = {
    "problem-analysis": ("report", problem_analysis.WRITTEN),
    "leon-writing-style": ("summary", leon_writing_style.SUMMARY),
    "decision-critic": ("report", decision_critic.WRITTEN),
}


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
        return report(**_reported(tools, left.pop(0)))

    model = ScriptedModel(answer=answer)
    host = Agent(str(tmp_path), model)
    ended = host.advance(host.start(skill, task))
    assert (ended.status, left) == ("done", [])
    assert len(model.calls) == len(values)
    name, result = RESULT[skill]
    assert ended.result[name] == result


def test_a_prompt_without_faults_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "triage.md").write_text(prompt_engineer.TRIAGE_PROMPT, encoding="utf-8")
    held = [
        'prompts/triage.md | "Always give one label." | case 1: one label',
        'prompts/triage.md | "billing, bug or other" | case 2: bug is among them',
    ]
    values = [prompt_engineer.TASK, {**prompt_engineer.FAULTS, "findings": [], "held": held}]
    ended = follow(tmp_path, str(prompt_engineer.SCRIPTS / "single_prompt.py"), "improve it", lambda step, _: values)
    assert (ended.status, ended.result["held"]) == ("done", held)


@pytest.mark.slow
def test_deepthink_hears_its_sub_agents_and_comes_to_an_answer(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "CHANGELOG.md").write_text("0.3 renamed parse()\n0.2 dropped read()\n0.1 first\n", encoding="utf-8")

    def value(step: str, block: str) -> dict[str, Any]:
        if step == "report":
            name = re.findall(r"\bP[123]\b", block)[0]
            return {**deepthink.WORKED[step], "answer": f"{name} came to a sound answer, and says what it rests on."}
        return deepthink.WORKED.get(step) or deepthink.STEPS[step]

    ended = follow(tmp_path, "deepthink", deepthink.QUESTION, value)
    assert ended.status == "done"
    assert ended.result["report"].startswith("How sure: certain.\n\nPromise the file format alone, until a second ")


def follow(project: Path, skill: str, task: str, value: Callable[[str, str], Any]) -> SessionResult:
    """Follow a skill whose every step is reported by ``value`` of its id and its block; a list is taken in turn."""

    def answer(messages: list[BaseMessage], tools: list[dict[str, Any]]) -> AIMessage:
        system = messages[0].text
        step = re.findall(r'<step [^>]*?\bid="([^"]+)"', system)[0]
        given = value(step, system)
        if isinstance(given, list):
            given = given.pop(0)
        return report(**_reported(tools, given))

    host = Agent(str(project), ScriptedModel(answer=answer))
    return host.advance(host.start(skill, task))


def _reported(tools: list[dict[str, Any]], given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Of the values those that the step asks for, as its report has them."""
    schema = next(tool["parameters"] for tool in tools if tool["name"] == "report_step")["properties"]
    known = {part: schema.get(part, {}).get("properties", {}) for part in ("record", "parameters")}
    return {part: {name: given[name] for name in names if name in given} for part, names in known.items()}
