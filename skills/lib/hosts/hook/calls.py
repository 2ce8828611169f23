"""The calls that a policy has rules for, in what a host says of one tool call: by canonical names, with arguments."""

from __future__ import annotations

import os

from skills.lib.guard import shell
from skills.lib.guard.values import UNKNOWN, OpenList
from skills.lib.hosts.hook import tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from skills.lib.guard.policy import Policy
    from skills.lib.guard.shell import Match
    from skills.lib.hosts.hook.event import Event

# The facts about a working tree that any call has.
_OF_TREE = ("branch", "head", "tree")
_MCP = ("mcp(", ")")


class Arguments(dict):  # type: ignore[type-arg]
    """The arguments of a call; those of the adapter are computed when a rule reads them."""

    __slots__ = ("_folder", "_match")

    def __init__(self, given: Mapping[str, Any], folder: str, match: Match | None = None) -> None:
        super().__init__(given)
        self._folder = folder
        self._match = match

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or name in _OF_TREE or (self._match is not None and name in ("args", "paths"))

    def __getitem__(self, name: str) -> Any:
        if not super().__contains__(name):
            self[name] = self._computed(name)
        return super().__getitem__(name)

    def _computed(self, name: str) -> Any:
        if self._match is not None:
            return _known(self._match.value(name))
        if name not in _OF_TREE:
            raise KeyError(name)
        from skills.lib.guard import worktree

        return _known(getattr(worktree, name)(self._folder))


class Call:
    """One call that a policy has a rule for: the rule's name, the arguments, and what is in doubt.

    ``doubt`` says why the line may make this call in a way that cannot be told. If not ``is_evidence``, its result
    shows nothing: it may be of another program. ``match`` is that of a shell command.
    """

    __slots__ = ("arguments", "doubt", "is_evidence", "match", "tool")

    def __init__(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        match: Match | None = None,
        doubt: str = "",
        is_evidence: bool = True,
    ) -> None:
        self.tool = tool
        self.arguments = arguments
        self.match = match
        self.doubt = doubt
        self.is_evidence = is_evidence


def of_event(event: Event, policy: Policy) -> list[Call]:
    """The calls of an event that the policy has rules for."""
    names = dict.fromkeys([*_canonical(event), *_mcp_rules(event, policy), event.tool])
    given = {**event.given, **({"paths": _targets(event)} if event.targets else {})}
    found = [Call(name, Arguments(given, event.folder)) for name in names if name in policy.tools]
    return found + (list(_of_shell(event, policy)) if event.command else [])


def _canonical(event: Event) -> list[str]:
    return sorted(tools.meanings(event.host, event.tool, event.given))


def _targets(event: Event) -> list[str]:
    return [os.path.realpath(os.path.join(event.folder, os.path.expanduser(path))) for path in event.targets]


def _mcp_rules(event: Event, policy: Policy) -> Iterator[str]:
    """The rules ``mcp(SERVER.TOOL)`` of a policy that a host's name of a tool means."""
    begin, end = _MCP
    for rule in policy.tools:
        if rule.startswith(begin) and rule.endswith(end):
            server, _, tool = rule[len(begin) : -len(end)].partition(".")
            if event.tool in (f"mcp__{server}__{tool}", f"mcp_{server}_{tool}", f"{server}_{tool}"):
                yield rule


def _of_shell(event: Event, policy: Policy) -> Iterator[Call]:
    """The rules ``shell(…)`` that a command line means, and those that it may mean."""
    rules = [(name, words) for name, words in policy.shell_rules() if words]
    if not rules:
        return
    given = event.given.get("command", event.given.get("cmd"))
    is_list = isinstance(given, list) and event.words == given
    line = shell.of_words(event.words, event.folder) if is_list else shell.read(event.command, event.folder)
    is_certain = line.is_certain([words for _, words in rules])
    for name, words in rules:
        matches = line.matches(words)
        for match in matches:
            doubt = "" if match.certain else "only a shell knows which command the line runs"
            yield Call(name, Arguments({}, event.folder, match), match, doubt, match.is_plain)
        if not is_certain:
            doubt = "; ".join(line.reasons) or "the line runs a script"
            yield Call(name, Arguments({"args": UNKNOWN, "paths": UNKNOWN}, event.folder), None, doubt, False)


def _known(value: Any) -> Any:
    """A value of the adapter as expressions have it: what only a shell knows is UNKNOWN."""
    if value is None:
        return UNKNOWN
    if isinstance(value, (list, tuple)):
        known = [part for part in value if part is not None]
        return OpenList(known) if len(known) < len(value) else known
    return value
