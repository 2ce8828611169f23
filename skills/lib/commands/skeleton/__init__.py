"""The files of a new skill, as templates, and how they are filled in."""

from __future__ import annotations

import os
import re
from pathlib import Path
from string import Template

from skills.lib.blocks.command_line import quote
from skills.lib.commands.queries.skills import shipped
from skills.lib.errors import EnvironmentProblem, RefusedError, UsageError
from skills.lib.files import write_folder
from skills.lib.skillfile.specification import NAME_LIMIT

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_COMPATIBILITY = "compatibility: Needs Python 3.11 or later with the package lockstep-skills.\n"


def check_name(name: str) -> None:
    """UsageError for a name that the Agent Skills specification does not allow; a nearby one is offered."""
    if _NAME.fullmatch(name) and len(name) <= NAME_LIMIT:
        return
    words = re.findall(r"[a-z0-9]+", name.lower())
    offered = "-".join(words)[:NAME_LIMIT].strip("-")
    raise UsageError(
        f"{name!r:.100} is not a name for a skill",
        valid=f"a-z, 0-9 and single hyphens between them, at most {NAME_LIMIT} characters",
        remedy=f"lockstep new {offered}" if offered else "lockstep new code-review",
    )


def check_target(target: str) -> None:
    """RefusedError where something is in the way: nothing is ever overwritten."""
    if os.path.lexists(target):
        raise RefusedError(f"{target} exists already, and nothing is overwritten", remedy="another name, or --dir DIR")


def files(name: str, target: str) -> dict[str, tuple[str, str]]:
    """Every file of the skill by its path below the skill's folder: what it is, and its text."""
    snake = name.replace("-", "_")
    words = {
        "name": name,
        "snake": snake,
        "title": name.replace("-", " "),
        "heading": name.replace("-", " ").capitalize(),
        # A skill beside the shipped ones brings its own Lockstep along.
        "compatibility": "" if os.path.dirname(target) == os.path.realpath(shipped()) else _COMPATIBILITY,
    }
    return {
        "SKILL.md": ("when an agent uses the skill, and its first command", _filled("skill.md", words)),
        f"scripts/{snake}.py": ("the entry, which stays as it is", _filled("entry.py", words)),
        f"scripts/{snake}_workflow.py": ("the graph: steps, routes, what each records", _filled("workflow.py", words)),
        f"scripts/{snake}_prompts.md": ("what each step says", _filled("prompts.md", words)),
        f"tests/test_{snake}.py": ("walks every transition of the graph", _filled("test.py", words)),
    }


def write(target: str, contents: dict[str, tuple[str, str]]) -> None:
    """Write the skill, whole or not at all. Raises EnvironmentProblem if it cannot be written."""
    try:
        write_folder(target, {name: text.encode() for name, (_, text) in contents.items()})
    except OSError as error:
        raise EnvironmentProblem(f"{target} cannot be written: {error.strerror}", remedy="--dir DIR") from error


def next_commands(name: str, shown: str) -> list[list[str]]:
    """The commands with which its author goes on, each with what it is for."""
    folder = quote(shown)
    snake = name.replace("-", "_")
    where = folder if os.sep in shown else f".{os.sep}{folder}"
    return [
        [f"${{EDITOR:-vi}} {folder}/scripts/{snake}_workflow.py", "edit the graph, and the prompts beside it"],
        [f"lockstep validate {folder}", "check it"],
        [f"lockstep walk {where}", "play the agent"],
        [f"lockstep graph {where}", "see the graph"],
        [f"python3 -m pytest {folder}", "walk every transition"],
    ]


def _filled(template: str, words: dict[str, str]) -> str:
    text = Path(__file__).with_name(f"{template}.template").read_text(encoding="utf-8")
    return Template(text).substitute(words)
