"""The commands that a SKILL.md tells an agent to run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skills.lib.skillfile.document import SkillFile

SHELLS = frozenset({"", "bash", "console", "sh", "shell", "shell-session", "zsh"})

_FENCE = re.compile(r"\s*(?P<mark>`{3,}|~{3,})\s*(?P<language>[^\s`{]*)")
_SCRIPT = re.compile(r"(?:^|[\s/\\\"'=}])(?P<script>scripts/[^\s\"']{1,100}\.py)(?=[\s\"']|$)")


class ShellCommand(NamedTuple):
    """A command as it stands in a fenced block, continued lines joined; ``line`` is its first."""

    line: int
    command: str


def commands_in(skill: SkillFile) -> list[ShellCommand]:
    """The commands in fenced shell blocks that name a script of the skill, whether or not that script exists."""
    return [command for command in _shell_commands(skill) if script_named(command.command)]


def script_named(command: str) -> str | None:
    """The first script of the skill that a command names, as ``scripts/…py``."""
    match = _SCRIPT.search(command)
    return match["script"] if match else None


def _shell_commands(skill: SkillFile) -> Iterator[ShellCommand]:
    for block in _shell_blocks(skill):
        start, parts = 0, list[str]()
        for number, line in block:
            if not parts:
                start, line = number, line.removeprefix("$ ")
            parts.append(line.removesuffix("\\").rstrip())
            if not line.endswith("\\"):
                yield ShellCommand(start, " ".join(parts))
                parts.clear()
        if parts:
            yield ShellCommand(start, " ".join(parts))


def _shell_blocks(skill: SkillFile) -> Iterator[list[tuple[int, str]]]:
    """The stripped lines of each fenced shell block, without blank lines and comments."""
    fence = ""
    block: list[tuple[int, str]] | None = None
    for number, line in enumerate(skill.body.split("\n"), skill.body_line):
        text = line.strip()
        match = _FENCE.match(line)
        if not fence and match:
            fence, block = match["mark"], [] if match["language"].lower() in SHELLS else None
        elif fence and text.startswith(fence) and not text.strip(fence[0]):
            if block:
                yield block
            fence, block = "", None
        elif block is not None and text and not text.startswith("#"):
            block.append((number, text))
    if block:
        yield block
