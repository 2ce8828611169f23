"""The guidance layer of older planner scripts: what a step says, before it is printed.

``format_guidance`` hands it to the formatters of the library, which know nothing of these types.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from skills.lib.errors import UsageError
from skills.lib.workflow.formatters import format_invoke_after, format_step_output
from skills.lib.workflow.types import Record, Rendered, TerminalRouting

Arguments = Sequence[str]


class FlatCommand(Record):
    """The one command that goes on, as arguments or as a line for the shell."""

    command: Arguments | str

    def _check(self) -> None:
        self._set(command=_arguments(self.command))


class BranchCommand(Record):
    """The command for each verdict of a review."""

    if_pass: Arguments | str
    if_fail: Arguments | str

    def _check(self) -> None:
        self._set(if_pass=_arguments(self.if_pass), if_fail=_arguments(self.if_fail))


NextCommand = FlatCommand | BranchCommand


class GuidanceResult(Record):
    """What a step says: its title, its actions (text and blocks, mixed), and how it goes on; None is the end."""

    title: str
    actions: Sequence[str]
    next_command: NextCommand | None = None


def format_guidance(
    guidance: GuidanceResult | Mapping[str, Any], step: int | str, total: int, **parts: Any
) -> Rendered:
    """Print guidance as ``format_step_output`` does, which takes ``parts``: qr, context, record, forbidden.

    A mapping has ``title``, ``actions`` and ``next``, a command or None. Raises UsageError for a mapping without
    them, and for a branch whose command names no step.
    """
    found = guidance if isinstance(guidance, GuidanceResult) else _guidance(guidance)
    onward = found.next_command
    if onward is None:
        parts["routing"] = TerminalRouting()
    elif isinstance(onward, FlatCommand):
        parts["next_command"] = onward.command
    else:
        commands = {"pass": onward.if_pass, "fail": onward.if_fail}
        parts["invoke_after"] = format_invoke_after(
            {verdict: _step_of(command) for verdict, command in commands.items()}, commands=commands
        )
    return format_step_output(step, total, found.title, found.actions, **parts)


def _guidance(given: Mapping[str, Any]) -> GuidanceResult:
    missing = [name for name in ("title", "actions") if name not in given]
    if missing:
        raise UsageError(f"the guidance has no {missing[0]}", valid="title, actions, next")
    onward = given.get("next")
    if onward is not None and not isinstance(onward, (FlatCommand, BranchCommand)):
        onward = FlatCommand(onward)
    return GuidanceResult(given["title"], given["actions"], onward)


def _arguments(command: Arguments | str) -> tuple[str, ...]:
    try:
        arguments = tuple(shlex.split(command) if isinstance(command, str) else command)
    except ValueError as error:
        raise UsageError(f"command {command!r:.200} is not a line for the shell: {error}") from None
    if not arguments:
        raise UsageError("the command is empty", remedy="leave next_command out where nothing follows")
    return arguments


def _step_of(command: Arguments) -> str:
    for at, word in enumerate(command):
        flag, equals, value = word.partition("=")
        if flag == "--step" and (equals or at + 1 < len(command)):
            return value if equals else command[at + 1]
    raise UsageError(f"{shlex.join(command)} names no --step", remedy="give the step that the branch leads to")
