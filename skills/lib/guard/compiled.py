"""The compiled form of a policy."""

from __future__ import annotations

from skills.lib.compact_json import checksum, ordered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# The form of compiled policies; one of another form is compiled again.
FORMAT = 2
# report: nothing is refused. look: what would be denied is answered by a look. deny: all three answers.
MODES = ("report", "look", "deny")


def seal_of(compiled: Mapping[str, Any]) -> str:
    """The checksum over a compiled policy without its seal."""
    return checksum(ordered({name: value for name, value in compiled.items() if name != "seal"}).encode())


class Rule:
    """What a policy says of one tool. A need is [text, line, expression, reads]; an effect [text, line, place, value].

    A read is ["value" or "there", pattern, tools that show or change it]. What is untrusted, and a sink, is
    [text, line, expression].
    """

    __slots__ = ("changes", "implies", "line", "needs", "on_false", "shows", "sinks", "tool", "untrusted")

    def __init__(self, tool: str, data: Mapping[str, Any]) -> None:
        self.tool = tool
        self.line: int = data["line"]
        self.needs: list[list[Any]] = data.get("needs", [])
        self.implies: list[list[Any]] = data.get("implies", [])
        self.shows: list[list[Any]] = data.get("shows", [])
        self.changes: list[list[Any]] = data.get("changes", [])
        self.on_false: list[list[Any]] = data.get("on_false", [])
        self.untrusted: list[list[Any]] = data.get("untrusted", [])
        self.sinks: list[list[Any]] = data.get("sinks", [])
