"""Projects and models for sessions: a small skill in a folder, and a model that does what the block says."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool, StructuredTool

from skills.lib.agent.agent import Agent
from skills.lib.agent.configuration.settings import Settings
from tests.agent.scripted import Answer, ScriptedModel, report
from tests.fixtures.skill import install

Values = Mapping[str, Any]


def project(folder: Path, skill: str, source: str | None = None) -> Path:
    """A project with a skill of its own."""
    (folder / ".git").mkdir(parents=True)
    script = install(folder, skill, source)
    about = (
        f"---\nname: {skill}\ndescription: Use it when something is to be done step by step.\n---\n\nRun the script.\n"
    )
    (script.parent.parent / "SKILL.md").write_text(about, encoding="utf-8")
    return folder


def honest(
    values: Values | None = None, outcome: str = ""
) -> Callable[[list[BaseMessage], list[dict[str, Any]]], Answer]:
    """A script that reports each step by the schema of its report; ``values`` has fields by name."""

    def answer(messages: list[BaseMessage], tools: list[dict[str, Any]]) -> AIMessage:
        return report(**filled(tools, values or {}, outcome))

    return answer


def filled(tools: list[dict[str, Any]], values: Values, outcome: str = "") -> dict[str, Any]:
    """The arguments of a report by its schema."""
    properties = next(tool["parameters"]["properties"] for tool in tools if tool["name"] == "report_step")
    found: dict[str, Any] = {}
    for name in ("record", "parameters"):
        inside = properties.get(name, {}).get("properties", {})
        if inside:
            found[name] = {field: values.get(field, value_of(field, spec)) for field, spec in inside.items()}
    if "outcome" in properties:
        ways = properties["outcome"]["enum"]
        found["outcome"] = outcome if outcome in ways else ways[0]
    return found


def value_of(name: str, spec: Mapping[str, Any]) -> Any:
    """Any value that a field of that schema takes."""
    if "enum" in spec:
        return spec["enum"][0]
    kinds: dict[str, Any] = {"string": f"{name} as it was seen", "integer": 1, "number": 1.5, "boolean": True}
    if spec.get("type") == "array":
        return [f"{name} {number}" for number in range(max(2, spec.get("minItems", 0)))]
    return kinds.get(spec.get("type", ""), {"seen": name})


def touch(path: str, project: Path) -> BaseTool:
    """A tool that writes a file, and counts how often it did."""

    def write(path: str, text: str) -> str:
        target = os.path.join(project, path)
        with open(target, "a", encoding="utf-8") as file:
            file.write(text + "\n")
        return f"wrote {path}"

    return StructuredTool.from_function(write, name="write", description="Append a line to a file.")


def agent(folder: Path, model: ScriptedModel, **options: Any) -> Agent:
    """An agent without tools of its own but those that are given."""
    return Agent(str(folder), model, tools=options.pop("tools", []), settings=Settings(**options))
