"""One entry for several scripts of a skill: a flag chooses the one that is served, as if it had been called."""

from __future__ import annotations

import os
import sys

from skills.lib.errors import UsageError, nearest
from skills.lib.runtime.cli import HelpRequested

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills.lib.model.choice import Choice


def choose(entry: str, choice: Choice, argv: Sequence[str]) -> tuple[str, list[str]]:
    """The path of the script beside ``entry`` that the flag names, and the arguments without the flag.

    A run that is under way has its own script, which printed commands name. A command that names a run and no script is
    served by the first one: a run of another is then refused, with the command of its own script. Raises UsageError
    where nothing is chosen, HelpRequested where help is asked for without a choice.
    """
    rest, chosen = list(argv), ""
    for at, word in enumerate(rest):
        flag, equals, value = word.partition("=")
        if flag == choice.flag:
            chosen = value if equals else "".join(rest[at + 1 : at + 2])
            del rest[at : at + 1 if equals else at + 2]
            break
    if not chosen and any(word.partition("=")[0] == "--run" for word in rest):
        chosen = next(iter(choice.scripts))
    if not chosen and ("--help" in rest or "-h" in rest):
        raise HelpRequested(_help(entry, choice))
    if chosen not in choice.scripts:
        what = f"there is no {choice.name} {chosen!r:.80}" if chosen else f"{choice.flag} is missing"
        near = nearest(chosen, choice.scripts)
        remedy = f"{choice.flag} {near}" if near else f"give {choice.flag}; --help says what each is"
        raise UsageError(what, valid=", ".join(choice.scripts), remedy=remedy)
    return os.path.join(os.path.dirname(entry), choice.scripts[chosen]), rest


def _help(entry: str, choice: Choice) -> str:
    from skills.lib.blocks.command_line import join

    lines = [f"{choice.help} Each has a workflow of its own; its help:"]
    lines += [f"  {join([sys.executable, entry, choice.flag, word, '--help'])}" for word in choice.scripts]
    return "\n".join(lines)
