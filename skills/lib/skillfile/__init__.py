"""SKILL.md: a strict reader, the rules of the Agent Skills specification, and discovery."""

from __future__ import annotations

from skills.lib.skillfile.commands import ShellCommand, commands_in, script_named
from skills.lib.skillfile.discovery import SkillFolder, discover, is_entry_script
from skills.lib.skillfile.document import SkillFile, load_skill
from skills.lib.skillfile.source import SkillFileError
from skills.lib.skillfile.specification import SpecProblem, check_specification

__all__ = [
    "ShellCommand",
    "SkillFile",
    "SkillFileError",
    "SkillFolder",
    "SpecProblem",
    "check_specification",
    "commands_in",
    "discover",
    "is_entry_script",
    "load_skill",
    "script_named",
]
