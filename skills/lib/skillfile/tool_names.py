"""The tools that a SKILL.md names, as steps name them."""

from __future__ import annotations

import re

from skills.lib.errors import UsageError
from skills.lib.guard.offering import STARTERS, canonical
from skills.lib.model.step_checks import check_tool
from skills.lib.model.steps import TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_ENTRY = re.compile(r"[^\s,()]+(?:\([^)]*\))?")
_SHELL_SIGNS = frozenset("()'\"|&;<>$`")
# How long the name of a tool may be, in characters.
_LONGEST = 110


def read(value: str | Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """The tools of ``allowed-tools``, none if every tool is allowed; and a sentence on each that is left out.

    Raises UsageError if all of them are left out.
    """
    entries = _ENTRY.findall(value) if isinstance(value, str) else [one.strip() for one in value if one.strip()]
    if "*" in entries:
        return (), []
    found, notes = [], []
    for entry in entries:
        name, why = _translated(entry)
        if why:
            notes.append(f"allowed-tools: {entry[:80]} is left out: {why}")
        else:
            found.append(name)
    if entries and not found:
        raise UsageError(
            f"none of the tools in allowed-tools can be offered: {'; '.join(notes)}",
            valid="Read, Grep, Glob, Write, Edit, Bash, Bash(PROGRAM:*)",
        )
    return tuple(dict.fromkeys(found)), notes


def _translated(entry: str) -> tuple[str, str]:
    """The name that steps use, or why there is none."""
    name = canonical(entry)
    own, bracket, inside = name.partition("(")
    if own in STARTERS:
        return "", "a session that follows a skill starts no other one"
    if own == "shell" and bracket:
        words = " ".join(inside.removesuffix(")").split())
        if set(words) & _SHELL_SIGNS or not words:
            return "", "commands are compared word by word, without signs of a shell"
        return f"shell({words})", ""
    if own in TOOLS:
        return (name, "") if not bracket else ("", f"{own} cannot be narrowed to paths")
    if bracket and own not in ("tool", "mcp"):
        return "", "what stands in its brackets cannot be checked"
    named = name if bracket else f"tool({own})"
    try:
        check_tool(named, TOOLS, "")
    except ValueError:
        return "", "it is no name of a tool"
    return (named, "") if len(named) <= _LONGEST else ("", "its name is too long")
