"""Opens runs of skills without a graph."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from skills.lib import compact_json
from skills.lib.agent.configuration.settings import SIMPLE
from skills.lib.agent.prose import agent_types
from skills.lib.agent.prose import skill as skills_in_prose
from skills.lib.agent.prose import workflow as workflows
from skills.lib.blocks.command_line import CommandLine, lockstep_command
from skills.lib.hosts import skills
from skills.lib.model.texts import VALUE_LIMIT
from skills.lib.runtime.runner import Runner
from skills.lib.skillfile.source import FILE_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from skills.lib.agent.prose.agent_types import AgentType
    from skills.lib.agent.prose.skill import ProseSkill
    from skills.lib.model.run import Run
    from skills.lib.model.steps import Workflow
    from skills.lib.skillfile import SkillFolder

# Where a user's own skills are in the home folder.
_OF_USER = (".claude/skills", ".agents/skills")


def found(project: str, name: str) -> ProseSkill | None:
    """The skill without a graph that a name or path means, or the path of its SKILL.md; None if it means another.

    Raises SkillFileError for one that cannot be read, and UsageError for one whose settings are wrong.
    """
    folder = folder_of(project, name)
    if folder is None or any(map(os.path.isfile, folder.workflows)):  # a draft in YAML is not compiled
        return None
    if folder.error:
        raise folder.error
    return skills_in_prose.load(folder.path)


def folder_of(project: str, name: str) -> SkillFolder | None:
    """The folder of the skill that a name or path means, or the path of its SKILL.md; None if there is none."""
    is_path = os.sep in name or name in (".", "..", FILE_NAME)
    if is_path and os.path.basename(name) == FILE_NAME and os.path.isfile(name):
        name = os.path.dirname(os.path.abspath(name))
    if is_path:
        return skills.folder_of(project, os.path.abspath(name)) if os.path.isdir(name) else None
    return skills.folder_of(project, name, missing_ok=True) or _of_user(name)


def _of_user(name: str) -> SkillFolder | None:
    """The skill of that name among those that the user keeps for every project."""
    for folder in _OF_USER:
        place = os.path.join(os.path.expanduser("~"), folder, name)
        if os.path.isfile(os.path.join(place, FILE_NAME)):
            return skills.folder_of("", place)
    return None


def runner(project: str) -> Runner:
    """What serves runs that have no script."""
    return Runner(CommandLine(sys.executable, "", project, lockstep_command()))


def workflow(skill: ProseSkill, agent: AgentType | None) -> Workflow:
    """The workflow of a skill; that of ``agent`` starts it, if a sub-agent follows it."""
    if agent is None:
        return workflows.followed(skill.name, settings(skill, agent))
    return workflows.forking(skill.name, "" if skill.model else agent.model)


def work(skill: ProseSkill, agent: AgentType | None) -> Workflow:
    """The work of a skill alone, whose tools somebody must have."""
    return workflows.followed(skill.name, {**settings(skill, agent), "execution_mode": SIMPLE})


def agent_of(skill: ProseSkill, project: str) -> AgentType | None:
    """The type of sub-agent that follows a skill; None if none does."""
    return agent_types.find(project, skill.agent) if skill.is_fork else None


def settings(skill: ProseSkill, agent: AgentType | None) -> dict[str, Any]:
    """What a run keeps of the settings of its skill, with the tools that it may use and its model."""
    tools = agent_types.narrowed(skill.tools, agent) if agent else skill.tools
    own = {"tools": list(tools), "model": skill.model}
    return {**skill.settings, **{name: value for name, value in own.items() if value}}


def parameters(
    skill: ProseSkill, agent: AgentType | None, task: str, project: str, instructions: str
) -> dict[str, Any]:
    """The parameters of a run of a skill."""
    given: Mapping[str, Any] = {
        "task": task,
        "instructions": _cut(instructions, skill),
        "files": listed(skill, project),
        "role": agent.role if agent else "",
        "skill_folder": skill.folder,
        "workspace": project,
        "settings": settings(skill, agent),
    }
    return {name: value for name, value in given.items() if value or name in ("instructions", "settings")}


def listed(skill: ProseSkill, project: str) -> list[str]:
    """What lies beside a SKILL.md, each with a path that ``read`` takes."""
    inside = os.path.join(os.path.realpath(project), "")
    folder = os.path.relpath(skill.folder, project) if skill.folder.startswith(inside) else skill.folder
    return [file.line(folder) for file in skill.files]


def child(run: Run) -> Workflow:
    """The workflow of a sub-agent's run that is to follow a skill, by what its parent gave it."""
    given = compact_json.load_object(run.spec["params"]["settings"])
    return workflows.followed(run.workflow, given)


def _cut(text: str, skill: ProseSkill) -> str:
    """The text, or as much of it as a run keeps, with where the rest stands."""
    if len(text) <= VALUE_LIMIT:
        return text or f"Use this skill so: {skill.description}"
    kept = text[: VALUE_LIMIT - 500]
    kept = kept[: kept.rfind("\n") + 1] or kept
    path = os.path.join(skill.folder, FILE_NAME)
    return f"{kept}\n[These are the first {len(kept):,} of {len(text):,} characters: the rest stands in {path}.]"
