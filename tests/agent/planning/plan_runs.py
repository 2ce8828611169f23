"""A project with a skill to be planned, a plan for it, and models that plan, execute and evaluate it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from skills.lib.agent import planning
from skills.lib.agent.agent import Agent
from skills.lib.agent.results import SessionResult
from tests.agent.scripted import Answer, ScriptedModel, calling, report

SIGNAL = "[ATTEMPTS_COMPLETE]"
GOAL = "sum up the project"
PLAN: dict[str, Any] = {
    "steps": [
        {
            "id": "find",
            "title": "Find the line",
            "action": "tool",
            "tool": "safe_cli_executor",
            "optimizer_instruction": f"Read README.md by read_file. Then begin your last text with {SIGNAL}.",
            "evaluator_instruction": "Verify that README.md has the line. Key output: LINE, the line itself.",
            "key_outputs": ["LINE"],
        },
        {
            "id": "write",
            "title": "Write the summary",
            "action": "tool",
            "tool": "safe_py_runner",
            "optimizer_instruction": f"Write LINE into SUMMARY.md by scripts/write_file.py. Last text: {SIGNAL}",
            "evaluator_instruction": "Verify by read_file that SUMMARY.md has the LINE.",
        },
    ]
}
LINE = "It keeps books in order."
# What an optimizer does first in each step.
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "find": ("safe_cli_executor", {"command": "read_file", "params": {"path": "README.md"}}),
    "write": (
        "safe_py_runner",
        {"script": "scripts/write_file.py", "args": ["SUMMARY.md"], "stdin_text": f"{LINE}\n"},
    ),
}
# What each step ends with: an optimizer's text, an evaluator's report.
ENDS: dict[str, Answer] = {
    "find-do": f"{SIGNAL} I read README.md: {LINE}",
    "find-check": report(record={"verdict": "pass", "feedback": "the line is there", "LINE": LINE}),
    "write-do": f"{SIGNAL} I wrote SUMMARY.md.",
    "write-check": report(record={"verdict": "pass", "feedback": "SUMMARY.md has the line"}),
}
By = Callable[[str, list[BaseMessage]], Answer | None]


def project(folder: Path, skill: str = "books") -> Path:
    """A project with a skill of prose."""
    (folder / ".git").mkdir(parents=True)
    (folder / "README.md").write_text(f"# Books\n\n{LINE}\n", encoding="utf-8")
    (folder / "skills" / skill).mkdir(parents=True)
    about = f"---\nname: {skill}\ndescription: Use it to sum up.\n---\n\n# Sum up\n\nWrite one line into SUMMARY.md.\n"
    (folder / "skills" / skill / "SKILL.md").write_text(about, encoding="utf-8")
    return folder


def step_of(messages: list[BaseMessage]) -> str:
    """The step that the block of a model call is of."""
    found = re.search(r'<step\b[^>]* id="([^"]+)"', messages[0].text)
    return found[1] if found else ""


def honest(plan: Mapping[str, Any] = PLAN, by: By = lambda step, messages: None) -> ScriptedModel:
    """A model that plans, does each step by one call, and passes it; ``by`` answers first, by the step."""

    def answer(messages: list[BaseMessage], tools: list[dict[str, Any]]) -> Answer:
        step = step_of(messages)
        given = by(step, messages)
        if given is not None:
            return given
        if step == "plan":
            return report(record={"plan": plan})
        if isinstance(messages[-1], ToolMessage) and "looked at nothing" in messages[-1].text:
            return calling(("safe_cli_executor", {"command": "list_files"}))
        called = any(isinstance(message, AIMessage) for message in messages)
        name = step.removesuffix("-do")
        return ENDS[step] if called or name not in CALLS else calling(CALLS[name])

    return ScriptedModel(answer=answer)


def agent(folder: Path, model: ScriptedModel) -> Agent:
    """An agent of the project."""
    return Agent(str(folder), model)


def approved(host: Agent, goal: str = GOAL, skill: str = "books") -> str:
    """The run that executes a plan which was made and approved."""
    run = planning.start(host, skill, goal)
    assert host.advance(run).status == "waiting"
    host.answer(run, "approve")
    assert host.advance(run).status == "done"
    return planning.execute(host, run)


def executed(folder: Path, model: ScriptedModel) -> tuple[Agent, str, SessionResult]:
    """A plan that was made, approved and executed as far as the model comes."""
    host = agent(folder, model)
    run = approved(host)
    return host, run, host.advance(run)


def calls_at(model: ScriptedModel, step: str) -> list[Any]:
    """The calls of a model at a step."""
    return [call for call in model.calls if step_of(call.messages) == step]
