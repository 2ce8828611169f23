"""An entry that several scripts have in common, and the flag that chooses one of them."""

from __future__ import annotations

import os
import sys

from skills.lib.blocks.command_line import join
from skills.lib.errors import SkillError, UsageError, nearest
from skills.lib.model.types import Choice
from skills.lib.runtime import cli, loading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def chosen(path: str, words: list[cli.Word]) -> tuple[str, list[cli.Word]]:
    """The script that the common entry of several hands over to, with its words; else ``path`` itself."""
    file = path[: -len(".py")] + loading.CHOICE
    if not os.path.isfile(file):
        return path, words
    choice = getattr(loading.load_module(file), "CHOICE", None)
    if not isinstance(choice, Choice):
        raise SkillError(
            f"{file} has no CHOICE", remedy='put one in it: CHOICE = Choice("flag", {"word": "script.py"})'
        )
    return choose(path, choice, words)


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
