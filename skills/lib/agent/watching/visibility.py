"""Who sees what of a session: the level of a reader by its role, and of a call by the type of its tool.

The levels are FULL, SUMMARY and HIDDEN. The level of a call decides what is written of it: of a HIDDEN one its tool,
its time and whether it succeeded. The level of a reader only filters what is read.
"""

from __future__ import annotations

import re

from skills.lib.agent.configuration.configured_keys import LEVELS, ROLES
from skills.lib.agent.configuration.lockstep_toml import Visibility
from skills.lib.errors import UsageError, did_you_mean, nearest
from skills.lib.field_checks import EMPTY
from skills.lib.guard.offering import ESSENTIAL, SHELL, canonical

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

FULL, SUMMARY, HIDDEN = LEVELS
# The types of tools, and of commands, beside those that are set.
_TYPES = {
    **dict.fromkeys(("read", "search", "write", "edit"), ("FILE",)),
    "shell": ("BASH",),
    "web": ("API",),
    **{f"shell({name})": ("API",) for name in ("curl", "wget", "http", "gh api")},
    **{
        f"shell({name})": ("DATABASE",)
        for name in ("psql", "mysql", "mariadb", "sqlite3", "duckdb", "sqlcmd", "sqlplus", "mongosh", "redis-cli")
    },
}
_WORD = re.compile(r"[^\s;|&()<>'\"`$={}]+")


class Levels:
    """The levels of a project's readers and calls. ``names`` maps a program's own tools to the names that steps use."""

    def __init__(
        self,
        visibility: Visibility = Visibility(),  # noqa: B008  frozen
        tool_types: Mapping[str, Sequence[str]] = EMPTY,
        names: Mapping[str, str] = EMPTY,
    ) -> None:
        self._visibility, self._names = visibility, names
        self._types: dict[str, set[str]] = {}
        for given in (_TYPES, tool_types):
            for name, types in given.items():
                self._types.setdefault(canonical(name), set()).update(types)

    def of_reader(self, role: str = "", asked: str = "") -> str:
        """The level of a reader: that of the role, or the default one, or ``asked`` if that shows less.

        Raises UsageError for an unknown role or level.
        """
        if role and role not in ROLES:
            raise UsageError(
                f"there is no role {role!r:.40}{did_you_mean(nearest(role, ROLES))}", valid=", ".join(ROLES)
            )
        if asked and asked not in LEVELS:
            raise UsageError(f"{asked!r:.60} is no level of events", valid=", ".join(LEVELS))
        visibility = self._visibility
        level = visibility.roles.get(role, ROLES[role]) if role else visibility.default_visibility
        return more_secret(level, asked or level)

    def of_call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """The level of a call: the most secret one that a type of its tool has."""
        if tool in ESSENTIAL or not self._visibility.sensitive_tools:
            return FULL
        levels = [self._visibility.sensitive_tools.get(one, FULL) for one in self._types_of(tool, arguments)]
        return max(levels, key=LEVELS.index, default=FULL)

    def _types_of(self, tool: str, arguments: Mapping[str, Any]) -> set[str]:
        name = self._names.get(tool, tool)
        types = set().union(*(self._types.get(one, set()) for one in {tool, name, canonical(tool), canonical(name)}))
        if canonical(name) == SHELL:
            words = [word.rpartition("/")[2] for word in _WORD.findall(str(arguments.get("command", "")))]
            for pattern, own in self._types.items():
                if pattern.startswith(f"{SHELL}(") and _has(words, pattern[len(SHELL) + 1 : -1].split()):
                    types |= own
        return types


def more_secret(one: str, other: str) -> str:
    """The level of the two that shows less."""
    return max(one, other, key=LEVELS.index)


def _has(words: Sequence[str], wanted: Sequence[str]) -> bool:
    """True if words stand somewhere in a line: a program may be started by another one, or by an inner shell."""
    return any(list(words[at : at + len(wanted)]) == list(wanted) for at in range(len(words)))
