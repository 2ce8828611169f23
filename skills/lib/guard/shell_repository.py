"""Which command of git the words are, where a command works, and which branch it pushes to."""

from __future__ import annotations

import os

from skills.lib.guard.shell_parts import base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills.lib.guard.shell_parts import Word

_SEVERAL = frozenset(("--all", "--mirror", "--branches", "--tags"))
_STEERING = ("push.default", "remote.", "branch.")
# Options with a value; a part of a long one is enough, and -o may stand behind other letters.
_VALUED = ("--push-option", "--repo", "--receive-pack", "--recurse-submodules", "--exec")
# Options of git, before its command, that lead elsewhere.
_LEADING = ("-C", "--git-dir", "--work-tree")


def git_command(words: Sequence[Word]) -> tuple[int, list[Word]]:
    """Where the subcommand of git stands, and the settings given before it; -1 if an option is not known."""
    if len(words) < 2 or words[1].text[:1] != "-":
        return 1, []
    from skills.lib.guard import shell_programs as programs

    at = 1
    settings: list[Word] = []
    while at < len(words):
        word = words[at]
        name, equals, _ = word.head.partition("=")
        if word.text == "-c" or (name in programs.GIT_VALUED and not equals):
            if not word.known or at + 1 >= len(words) or not words[at + 1].single:
                return -1, settings
            settings += [words[at + 1]] if word.text == "-c" else []
            at += 2
        elif (equals and name in programs.GIT_VALUED and word.single) or (
            word.known and word.text in programs.GIT_FLAGS
        ):
            at += 1
        elif word.text[:1] == "-":
            return -1, settings
        else:
            break
    return at, settings


def folder_of(words: Sequence[str | None], folder: str) -> str:
    """The folder in which a command works, of git if it is one; "" if it is not known."""
    is_git = base(words[0] or "") == "git"
    if not folder or not is_git or not any(word is None or word.startswith(_LEADING) for word in words):
        return folder
    from skills.lib.guard.shell_programs import GIT_COMMANDS

    for at, word in enumerate(words[1:-1], 1):
        if word is None or word.startswith(("--git-dir", "--work-tree")):
            return ""
        if word == "-C":
            following = words[at + 1]
            if following is None:
                return ""
            folder = os.path.join(folder, following)
        elif word in GIT_COMMANDS:
            break
    return folder


def pushed_branch(args: Sequence[str | None], words: Sequence[Word] = ()) -> str | None:
    """The branch that the arguments of ``git push`` name, "" if they name none, None if several or not known.

    ``words`` are those of the whole command: its settings may say what is pushed where.
    """
    _, settings = git_command(words)
    if any(not one.known or one.text.lower().startswith(_STEERING) for one in settings):
        return None
    if None in args or any(len(word) > 3 and one.startswith(word) for word in args if word for one in _SEVERAL):
        return None
    operands = [word for word in args if word and word[:1] != "-"]
    takes_value = any(_takes_value(word) for word in args if word)
    if len(operands) < 2 and not takes_value:
        return ""
    if len(operands) != 2 or takes_value:
        return None
    target = operands[1].lstrip("+").rpartition(":")[2]
    if target in ("HEAD", "@") and ":" not in operands[1]:
        return ""
    is_plain = target not in ("HEAD", "@", "") and "*" not in target
    return target.removeprefix("refs/").removeprefix("heads/") if is_plain else None


def _takes_value(word: str) -> bool:
    """True if the word behind an option of ``git push`` is its value."""
    if word[:2] == "--":
        return len(word) > 3 and any(option.startswith(word) for option in _VALUED)
    return word[:1] == "-" and word[-1] == "o"
