"""The types of sub-agents that follow a skill: what each may use of the tools that the skill allows, and its prompt."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from skills.lib.errors import RefusedError, UsageError, did_you_mean, nearest
from skills.lib.guard.offering import SHELL
from skills.lib.record import Record
from skills.lib.skillfile import SkillFileError, tool_names
from skills.lib.skillfile.document import read_fields

if TYPE_CHECKING:
    from collections.abc import Sequence

GENERAL = "general-purpose"
_READING = ("read", "search")
# Where a project and a user keep agents of their own, each in a file NAME.md.
_FOLDERS = (".claude/agents", ".agents/agents", ".agents", "roles")


class AgentType(Record):
    """A type of sub-agent: the tools that it may use, none if that is each; what it is told; its model, "" if none."""

    name: str
    tools: tuple[str, ...] = ()
    role: str = ""
    model: str = ""


_BUILT_IN = {
    "explore": AgentType("Explore", _READING, "You explore: you read and search, and change nothing."),
    "plan": AgentType("Plan", _READING, "You plan: you read and search, change nothing, and your answer is the plan."),
    GENERAL: AgentType(GENERAL),
}


def find(project: str, name: str) -> AgentType:
    """The type of that name, one of the project or of the user first; without a name the general one.

    Raises UsageError for an unknown name, with the nearest, and RefusedError for a type that forks itself.
    """
    own = _files(project)
    if name in own:
        return _read(own[name], name)
    built_in = _BUILT_IN.get((name or GENERAL).lower())
    if built_in is None:
        known = ["Explore", "Plan", GENERAL, *own]
        raise UsageError(
            f"there is no agent type {name!r:.80}{did_you_mean(nearest(name, known))}",
            valid=", ".join(known),
            remedy=f"write one to {os.path.join(project, _FOLDERS[0], name + '.md')}",
        )
    return built_in


def narrowed(skill: Sequence[str], agent: AgentType) -> tuple[str, ...]:
    """The tools that both a skill and a type of agent allow; none named is each. RefusedError if nothing is left."""
    if not skill or not agent.tools:
        return tuple(skill or agent.tools)
    found = [tool for tool in skill if tool in agent.tools or _program(tool) in agent.tools]
    found += [tool for tool in agent.tools if tool not in found and _program(tool) in skill]
    if not found:
        raise RefusedError(
            f"the agent type {agent.name} has {', '.join(agent.tools)}, and the skill allows {', '.join(skill)}: no "
            "tool is left",
            remedy="choose another agent, or allow one of its tools",
        )
    return tuple(found)


def _program(tool: str) -> str:
    """The shell, for one that is narrowed to a command."""
    return SHELL if tool.startswith(f"{SHELL}(") else ""


def _files(project: str) -> dict[str, str]:
    """The files of types by name."""
    found: dict[str, str] = {}
    for base in (project, os.path.expanduser("~")):
        for folder in _FOLDERS[: None if base == project else 2]:
            place = os.path.join(base, folder)
            for name in sorted(os.listdir(place)) if os.path.isdir(place) else ():
                if name.endswith(".md") and os.path.isfile(os.path.join(place, name)):
                    found.setdefault(name.removesuffix(".md"), os.path.join(place, name))
    return found


def _read(path: str, name: str) -> AgentType:
    try:
        fields, lines, body, _ = read_fields(Path(path))
    except SkillFileError as error:
        raise UsageError(f"the agent type {name}: {error.what}", remedy=error.remedy) from error
    if fields.get("context"):
        raise RefusedError(
            f"{path}:{lines['context']}: the agent type {name} has a context of its own, and a fork inside a fork is "
            "not started: a sub-agent starts no sub-agents",
            remedy="take context out of it",
        )
    tools = fields.get("tools", "")
    if isinstance(tools, dict):
        raise UsageError(f"{path}:{lines['tools']}: tools is neither one text nor a list", remedy="write tools: Read")
    allowed, _ = tool_names.read(tools if isinstance(tools, str) else [str(one) for one in tools])
    model = fields.get("model", "")
    own = model.strip() if isinstance(model, str) and model.strip() != "inherit" else ""
    return AgentType(name, allowed, body.strip(), own)
