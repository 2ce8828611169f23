"""What happened in a session, in one form for all hosts: calls with their results, what was said, what was offered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from skills.lib.record import Record


class Call(Record):
    """A call of a tool with its result; ``number`` is the line of the result.

    ``tool`` is the host's name, ``kinds`` the names that steps use (``search``, ``shell``). ``command`` is the line of
    a shell. ``paths`` are the files that the arguments name. ``exit`` is None if it is not known. ``was_denied`` says
    that the call was refused before it ran, and ``was_known`` is False for a tool that the host does not have.
    """

    number: int
    tool: str
    kinds: frozenset[str]
    arguments: Mapping[str, Any]
    command: str
    paths: Sequence[str]
    ok: bool
    exit: int | None
    output: str
    was_denied: bool = False
    was_known: bool = True


class Said(Record):
    """What the agent said to its user."""

    number: int
    text: str


class Offered(Record):
    """The tools that the session offers, by the host's names."""

    number: int
    tools: Sequence[str]


class Folder(Record):
    """The folder that the session works in."""

    number: int
    path: str


class Judged(Record):
    """Verdicts of the engine of a skill, by the criterion's id; "" is the task."""

    number: int
    verdicts: Mapping[str, str]


class Changed(Record):
    """Files that something in the session made or changed, as the host saw it."""

    number: int
    paths: Sequence[str]


def revised(call: Call, **fields: Any) -> Call:
    """A call with other values of some fields."""
    known: dict[str, Any] = {**call.fields(), **fields}
    return Call(**known)


Event: TypeAlias = Call | Said | Offered | Folder | Judged | Changed


class Terms(Protocol):
    """What hosts call their tools, and how they report results."""

    def kinds(self, host: str, tool: str, arguments: Mapping[str, Any]) -> frozenset[str]:
        """The names of steps for a host's tool; empty for another tool."""

    def paths(self, tool: str, arguments: Mapping[str, Any]) -> list[str]:
        """The files that the arguments of a call name."""

    def command(self, arguments: Mapping[str, Any]) -> str:
        """The line of a shell's call."""

    def shell(self, host: str, failed: bool, given: Any) -> tuple[bool, int | None, str]:
        """Whether a shell's call succeeded, its exit code and its output, from what the host gives of the result."""

    def text(self, given: Any) -> str:
        """The text of a result."""

    def is_denied(self, text: str) -> bool:
        """True for a result that says that the call was refused before it ran."""
