"""The calls that a policy has rules for, in one call of a tool: a line of a shell is taken apart."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, Protocol

    from skills.lib.guard.shell_matching import Match

    TreeOf = Callable[[str], str | None]

    class Rules(Protocol):
        """What says which rules are on commands of a shell: a policy, or a guard with several."""

        def shell_rules(self) -> list[tuple[str, list[str]]]: ...


SHELL = "shell"
_ADAPTED = ("args", "paths", "branch", "head", "tree")


class Call:
    """A call that a policy may have a rule for.

    ``doubt`` says why it may not be made, or not so; ``is_evidence`` is False if its result shows nothing of the rule.
    ``exit_of`` gives the exit code of this command from that of the line. If the line may change the working tree after
    this command, ``tree_now`` gives its content.
    """

    __slots__ = ("arguments", "doubt", "exit_of", "is_evidence", "rule", "tree_now")

    def __init__(
        self,
        rule: str,
        arguments: Mapping[str, Any],
        doubt: str = "",
        is_evidence: bool = True,
        exit_of: Callable[[int | None], int | None] | None = None,
        tree_now: Callable[[], str | None] | None = None,
    ) -> None:
        self.rule = rule
        self.arguments = arguments
        self.doubt = doubt
        self.is_evidence = is_evidence
        self.exit_of = exit_of
        self.tree_now = tree_now


def is_of_shell(rule: str) -> bool:
    """True for the rule of the shell tool and of its commands; a tool ``shell_order`` of a program is another."""
    return rule == SHELL or rule.startswith("shell(")


def is_line(tool: str, arguments: Mapping[str, Any]) -> bool:
    """True for a call of a shell with a command line, which may hold several commands."""
    return tool == SHELL and isinstance(arguments.get("command"), str)


def calls_of(
    policy: Rules,
    tool: str,
    arguments: Mapping[str, Any],
    folder: str,
    live: bool = True,
    shell: str = "",
    has_run: bool = False,
    tree_of: TreeOf | None = None,
) -> list[Call]:
    """The call by its own name, and each command of a shell line (``shell`` with ``command``) that a rule names.

    ``shell`` is the shell that reads the line, if it is not the system's.
    Unless ``live``, branch, head and tree are only what the arguments say: those of the folder may be others by now.
    If the call ``has_run``, they are those after it. ``tree_of`` gives the content of the working tree around a folder,
    by default ``worktree.tree``.
    """
    found = [Call(tool, arguments)]
    line = arguments.get("command")
    if tool == SHELL and isinstance(line, str):
        found += _of_line(policy, line, arguments, folder, live, shell, has_run, tree_of)
    return found


def _of_line(
    policy: Rules,
    line: str,
    given: Mapping[str, Any],
    folder: str,
    live: bool,
    read_by: str,
    has_run: bool,
    tree_of: TreeOf | None,
) -> Iterator[Call]:
    from skills.lib.guard import shell  # most calls are of other tools
    from skills.lib.guard.values import UNKNOWN

    rules = [(name, words) for name, words in policy.shell_rules() if words]
    taken = shell.read(line, folder, read_by or shell.OF_SYSTEM)
    is_certain = taken.is_certain([words for _, words in rules])
    for name, words in rules:
        for match in taken.matches(words):
            doubt = "" if match.certain else "only a shell knows which command the line runs"
            adapted = _Adapted(given, match, live, has_run, tree_of)
            tree_now = _tree_now(match, tree_of) if live and "tree" in match.command.passing else None
            is_evidence = match.certain and match.is_plain
            yield Call(name, adapted, doubt, is_evidence, match.command.result_exit, tree_now)
        if not is_certain:
            doubt = "; ".join(taken.reasons) or "the line runs a script"
            yield Call(name, {"args": UNKNOWN, "paths": UNKNOWN}, doubt, False)


def _tree_now(match: Match, tree_of: TreeOf | None) -> Callable[[], str | None]:
    return lambda: match.tree(tree_of)


class _Adapted(dict):  # type: ignore[type-arg]
    """The arguments of a command; those that need the file system are computed when a rule reads them."""

    def __init__(
        self, given: Mapping[str, Any], match: Match, live: bool, has_run: bool, tree_of: TreeOf | None
    ) -> None:
        super().__init__({name: value for name, value in given.items() if name != "command"})
        self._match = match
        self._live = live
        self._has_run = has_run
        self._tree_of = tree_of

    def __missing__(self, name: str) -> Any:
        if name not in _ADAPTED or not (self._live or name in ("args", "paths")):
            raise KeyError(name)
        self[name] = value = _known(self._match.value(name, self._has_run, self._tree_of))
        return value


def _known(value: Any) -> Any:
    """A value of the adapter as expressions have it: what only a shell knows is UNKNOWN."""
    from skills.lib.guard.values import UNKNOWN, OpenList

    if isinstance(value, (list, tuple)):
        known = [part for part in value if part is not None]
        return OpenList(known) if len(known) < len(value) else known
    return UNKNOWN if value is None else value
