"""One entry for several scripts of a skill: a flag chooses the one that is served, as if it had been called."""

from __future__ import annotations

import os
import sys

from skills.lib.blocks.command_line import join
from skills.lib.errors import UsageError, nearest
from skills.lib.runtime import cli

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills.lib.model.choice import Choice


def choose(entry: str, choice: Choice, words: Sequence[cli.Word]) -> tuple[str, list[cli.Word]]:
    """The path of the script beside ``entry`` that the flag names, and the words without the flag.

    A run that is under way has its own script, which printed commands name. A command that names a run and no script is
    served by the first script: a run of another is then refused, with the command of its own script. Raises UsageError
    if nothing is chosen, and HelpRequested if help is requested without a choice.
    """
    flags = [flag for flag, _ in words]
    rest, chosen = list(words), ""
    if choice.name in flags:
        chosen = rest.pop(flags.index(choice.name))[1] or ""
    if not chosen and "run" in flags:
        chosen = next(iter(choice.scripts))
    if not chosen and "help" in flags:
        lines = [f"{choice.help} Each has a workflow of its own; its help:"]
        lines += [f"  {join([sys.executable, entry, choice.flag, word, '--help'])}" for word in choice.scripts]
        raise cli.HelpRequested("\n".join(lines))
    if chosen not in choice.scripts:
        what = f"there is no {choice.name} {chosen!r:.80}" if chosen else f"{choice.flag} is missing"
        near = nearest(chosen, choice.scripts)
        remedy = f"{choice.flag} {near}" if near else f"give {choice.flag}; --help says what each is"
        raise UsageError(what, valid=", ".join(choice.scripts), remedy=remedy)
    return os.path.join(os.path.dirname(entry), choice.scripts[chosen]), rest
