"""Calls of tools that failed: of what kind, whether the same call may succeed later, and what then worked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from skills.lib.agent.models.model_errors import KINDS
from skills.lib.guard.offering import ESSENTIAL, SHELL
from skills.lib.record import Record

if TYPE_CHECKING:
    from skills.lib.agent.watching.activity import Row

# The kinds of failures by what a result says, the first that is found; a retryable one may pass by itself.
_SAID = {
    "rate limit": r"\b429\b|rate.?limit|too many requests|quota",
    "timeout": r"tim(?:ed|e)[ -]?out|was ended after|took too long|deadline",
    "network": r"connection (?:refused|reset|aborted|closed)|could not resolve|unreachable|network|\b50[234]\b",
    "busy": r"\blocked\b|\bbusy\b|temporarily unavailable|try again",
    "encoding": r"is not UTF-|codec can't|UnicodeDecodeError|invalid (?:start|continuation) byte|encoding",
    "missing program": r"there is no program|command not found|is not installed|No module named",
    "missing file": r"no such file|there is no (?:file|folder)|does not exist|not found|FileNotFoundError",
    "permission": r"permission denied|operation not permitted|read-only",
    "malformed": r"JSONDecodeError|malformed|cannot be parsed|SyntaxError|ParserError|invalid syntax|Expecting",
}
_KINDS = [(kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _SAID.items()]
RETRYABLE = frozenset(("rate limit", "timeout", "network", "busy"))
OTHER = "other"
# So much of a result is looked at, from its beginning and from its end, in characters.
_LOOKED_AT = 4_000


class Failed(Record):
    """A call that failed; ``then`` is the call of the same step that succeeded next, "" if none did."""

    turn: int
    tool: str
    kind: str
    then: str = ""


def kind_of(text: str) -> str:
    """The kind of a failure by the text of its result; ``other`` if the text says none."""
    looked_at = text if len(text) <= 2 * _LOOKED_AT else text[:_LOOKED_AT] + text[-_LOOKED_AT:]
    return next((kind for kind, pattern in _KINDS if pattern.search(looked_at)), OTHER)


def failed(rows: Iterable[Row]) -> list[Failed]:
    """The calls of a run that were carried out and failed, in order."""
    found: list[Failed] = []
    waiting: list[tuple[Failed, Mapping[str, Any]]] = []
    for tool, arguments, row in _calls(rows):
        if waiting and waiting[0][0].turn != row.turn:
            found += [one for one, _ in waiting]
            waiting = []
        if row.data.get("ok"):
            found += [
                Failed(one.turn, one.tool, one.kind, _described(one.tool, before, tool, arguments))
                for one, before in waiting
            ]
            waiting = []
        else:
            waiting.append((Failed(row.turn, tool, kind_of(str(row.data.get("text", "")))), arguments))
    return found + [one for one, _ in waiting]


def is_retryable(reason: str) -> bool | None:
    """True if a session stopped for a failure of its model that may pass, False if for another; None if for none."""
    for kind in KINDS.values():
        if kind.words in reason:
            return kind.again
    return None


def _calls(rows: Iterable[Row]) -> Iterator[tuple[str, Mapping[str, Any], Row]]:
    """Each call that ended: its tool, its arguments, and the row of its result."""
    begun: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        key, tool = str(row.data.get("key", "")), str(row.data.get("tool", ""))
        if row.kind == "call":
            arguments = row.data.get("arguments")
            begun[key] = arguments if isinstance(arguments, dict) else {}
        elif row.kind == "result" and tool not in ESSENTIAL and key in begun:
            yield tool, begun.pop(key), row


def _described(tool: str, before: Mapping[str, Any], then: str, after: Mapping[str, Any]) -> str:
    """What succeeded after a failed call, in words."""
    if then == SHELL and _program(after) and (tool != then or _program(before) != _program(after)):
        return f"{then}({_program(after)})"
    if then != tool:
        return then
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return f"{tool} with another {' and '.join(changed)}" if changed else f"the same {tool} again"


def _program(arguments: Mapping[str, Any]) -> str:
    """The program of a command line."""
    words = str(arguments.get("command", "")).split()
    return words[0].rpartition("/")[2] if words else ""
