"""The compiled form of a policy, and the user's cache of it: a hook finds it there, and needs no YAML."""

from __future__ import annotations

import os

from skills.lib import compact_json, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# The form of compiled policies; one of another form is compiled again.
FORMAT = 3
# report: nothing is refused. look: what would be denied is answered by a look. deny: all three answers.
MODES = ("report", "look", "deny")
# UNKNOWN as ``picture.encoded`` writes it.
UNKNOWN_FACT = {"?": "unknown"}


def seal_of(compiled: Mapping[str, Any]) -> str:
    """The checksum over a compiled policy without its seal."""
    return compact_json.checksum(_written({name: value for name, value in compiled.items() if name != "seal"}))


def _written(compiled: Mapping[str, Any]) -> bytes:
    """A compiled policy as it is kept: a line of JSON with the length of each rule, and then the rules.

    A decision asks for one of them: what is not read as JSON costs nothing.
    """
    rules = {name: f"{rule}" for name, rule in compiled.get("tools", {}).items()}
    about = {**compiled, "tools": {name: len(rule) for name, rule in rules.items()}}
    return f"{compact_json.ordered(about)}\n{''.join(rules.values())}".encode()


def _read(data: bytes) -> dict[str, Any]:
    """The compiled policy that ``_written`` wrote. Raises ValueError, KeyError, TypeError or AttributeError."""
    head, _, rules = data.decode().partition("\n")
    compiled: dict[str, Any] = compact_json.load_object(head)
    tools, at = {}, 0
    for name, length in compiled["tools"].items():
        tools[name] = rules[at : at + length]
        at += length
    if at != len(rules):
        raise ValueError("rules are missing, or too many")
    return {**compiled, "tools": tools}


class Rule:
    """What a policy says of one tool. A need is [text, line, expression, reads]; an effect [text, line, place, value].

    A read is ["value" or "there", pattern, tools that show or change it]. What is untrusted, and a sink, is
    [text, line, expression]. ``unsettled`` has the places that a call makes UNKNOWN until its result comes, each with
    the names to leave alone; None if they depend on the call, or on what is known.
    """

    __slots__ = ("changes", "implies", "line", "needs", "on_false", "shows", "sinks", "tool", "unsettled", "untrusted")

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
        self.unsettled: list[list[Any]] | None = data.get("unsettled", None if self.changes else [])

    @property
    def only_forgets(self) -> bool:
        """True if a call makes places UNKNOWN and says nothing else, whatever its result is."""
        has_more = self.shows or self.implies or self.untrusted
        return self.unsettled is not None and not has_more and all(effect[3] == ["forget"] for effect in self.changes)

    def forgets(self, policy: str) -> list[dict[str, Any]]:
        """The changes that make UNKNOWN what a call may change, if ``unsettled`` has them."""
        about = {"policy": policy, "is": UNKNOWN_FACT}
        return [{**about, "at": path, "keep": keep} for path, keep in self.unsettled or ()]


def keep(compiled: Mapping[str, Any]) -> None:
    """Keep a compiled policy; if that fails, whoever needs it compiles anew."""
    from skills.lib import files  # a policy is written once, and read at each decision

    try:  # noqa: SIM105  contextlib costs the hook 2 ms
        files.write(_place(compiled["source"]), _written(compiled))
    except OSError:
        pass


def kept(digest: str) -> dict[str, Any] | None:
    """The compiled form of the text with that checksum, its seal unchecked; None if this version cannot use it."""
    try:
        with open(_place(digest), "rb") as file:
            if os.fstat(file.fileno()).st_uid not in (0, getattr(os, "geteuid", int)()):
                return None  # in a folder that others write, it may be anybody's
            compiled = _read(file.read())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return compiled if (compiled.get("format"), compiled.get("source")) == (FORMAT, digest) else None


def _place(digest: str) -> str:
    return os.path.join(os.path.abspath(paths.cache()), "policies", digest + ".policy")
