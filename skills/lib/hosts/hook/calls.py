"""The calls that a policy has rules for, in what a host says of one tool call: by canonical names, with arguments."""

from __future__ import annotations

import os

from skills.lib.guard.calls import SHELL, Call, calls_of
from skills.lib.hosts.hook.tools import is_mcp_call, shell_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from skills.lib.guard.policy import Policy
    from skills.lib.hosts.hook.event import Event, Trees

# The facts about a working tree that any call has.
_OF_TREE = ("branch", "head", "tree")


class Arguments(dict):  # type: ignore[type-arg]
    """The arguments of a call; the facts about the working tree are computed when a rule reads them."""

    __slots__ = ("_folder", "_trees")

    def __init__(self, given: Mapping[str, Any], folder: str, trees: Trees) -> None:
        super().__init__({name: value for name, value in given.items() if name not in _OF_TREE})
        self._folder = folder
        self._trees = trees

    def __missing__(self, name: str) -> Any:
        if name not in _OF_TREE:
            raise KeyError(name)
        from skills.lib.guard import worktree
        from skills.lib.guard.values import UNKNOWN

        value = self._trees.of(self._folder) if name == "tree" else getattr(worktree, name)(self._folder)
        self[name] = UNKNOWN if value is None else value
        return self[name]


def of_event(event: Event, policy: Policy, has_run: bool = False) -> list[Call]:
    """The calls of an event that the policy has rules for, before or after they ran."""
    mcp = [rule for rule in policy.tools if rule.startswith("mcp(") and is_mcp_call(rule, event.host, event.tool)]
    names = dict.fromkeys([*sorted(event.meant - {SHELL}), *mcp, event.tool])
    paths = _targets(event)
    given = {**({"path": paths[0]} if paths else {}), **event.given, **({"paths": paths} if paths else {})}
    found = [Call(name, Arguments(given, event.folder, event.trees)) for name in names if name in policy.tools]
    if event.command:
        arguments = Arguments({**event.given, "command": _line(event)}, event.folder, event.trees)
        read_by = shell_of(event.host, event.tool)
        of_line = calls_of(
            policy, SHELL, arguments, event.folder, shell=read_by, has_run=has_run, tree_of=event.trees.of
        )
        found += [one for one in of_line if one.rule != SHELL or SHELL in policy.tools]
    elif SHELL in event.meant and _is_unread(event):
        from skills.lib.guard.values import UNKNOWN

        unread = {"args": UNKNOWN, "paths": UNKNOWN}
        found += [
            Call(name, unread, "the command cannot be read", False) for name, words in policy.shell_rules() if words
        ]
    return found


def _is_unread(event: Event) -> bool:
    """True if a host gives a command in a form that is not known."""
    given = event.payload.get("tool_input")
    if not isinstance(given, dict):
        return given is not None
    return any(not isinstance(given.get(name, ""), (str, list)) for name in ("command", "cmd"))


def _targets(event: Event) -> list[str]:
    return [os.path.realpath(os.path.join(event.folder, os.path.expanduser(path))) for path in event.targets]


def _line(event: Event) -> str:
    """The command line of a shell call; words that no shell reads are quoted, so that they mean what they are."""
    given = event.given.get("command", event.given.get("cmd"))
    if not isinstance(given, list) or event.words != given:
        return event.command
    return " ".join("'" + word.replace("'", "'\\''") + "'" for word in event.words)
