"""What a command is to do: the skill and the task as they are typed, and the parameters of the skill."""

from __future__ import annotations

import os
import re

from skills.lib.errors import UsageError

_SLASH = re.compile(r"/([A-Za-z0-9_-]+)(?:\s+(.*))?", re.DOTALL)


def what_to_do(
    skill: str | None, task: str | None, run_id: str | None, params: tuple[str, ...], new: bool
) -> tuple[str, str]:
    """The skill and the task, which may stand in one text that begins with a slash, as in a conversation."""
    if run_id is not None:
        if skill is not None or params or new:
            raise UsageError("--run names a run, which has its skill and its task", remedy="give --run alone")
        return "", ""
    if skill is None:
        raise UsageError(
            "neither a skill nor a run is named",
            valid='SKILL "TASK", "/SKILL TASK", PATH "TASK", --run RUN',
            remedy="lockstep list, which lists the skills",
        )
    words = _SLASH.fullmatch(skill.strip())
    if words is None or os.path.exists(skill):
        return skill, task or ""
    return words[1], " ".join(text for text in (words[2], task) if text).strip()


def parameters(params: tuple[str, ...]) -> dict[str, str]:
    """The parameters by name; a flag's spelling, with hyphens, is taken too."""
    given: dict[str, str] = {}
    for pair in params:
        name, found, value = pair.partition("=")
        name = name.strip().lstrip("-").replace("-", "_")
        if not found or not name:
            raise UsageError(f"--param {pair!r:.80} is no NAME=VALUE", valid="as in --param topic=tests")
        if name in given:
            raise UsageError(f"--param {name} is given twice", remedy="give it once")
        given[name] = value
    return given
