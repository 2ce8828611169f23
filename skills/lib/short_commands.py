"""Reads the short commands that blocks print: the launcher, a run, and a report in a here-document."""

from __future__ import annotations

import os

from skills.lib import launcher, status_files
from skills.lib.shell_words import LONGEST, simple_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_IN_A_DELIMITER = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._")


def split(line: str) -> tuple[list[str], str]:
    """The words of a line that is one simple command, and the text of its here-document; no words for any other line.

    The delimiter is quoted, so that no shell changes the text, and nothing but blanks follows the line that closes it.
    """
    head, _, body = line.lstrip(" \t\n").partition("\n")
    before, sign, delimiter = head.rstrip(" \t").rpartition("<<")
    if not sign or not body:
        return simple_command(line), ""
    name = delimiter.strip(" \t").removeprefix("'").removesuffix("'")
    if delimiter.strip(" \t") != f"'{name}'" or not name or not _IN_A_DELIMITER.issuperset(name):
        return [], ""
    lines = body.split("\n")
    if name not in lines or "\0" in line or len(head) > LONGEST:
        return [], ""
    at = lines.index(name)
    if any(rest.strip(" \t") for rest in lines[at + 1 :]):
        return [], ""
    return simple_command(before), "".join(f"{text}\n" for text in lines[:at])


def long_words(words: Sequence[str]) -> list[str]:
    """The words of the long command that a short one stands for; empty if it calls no launcher of this user.

    The launcher is known by its real path. One that is reached by a link of another name, or put anywhere else, is not.
    """
    if len(words) < 2 or not is_launcher(words[0]) or not status_files.is_id(words[1]):
        return []
    place = launcher.entry(os.path.dirname(words[0]), words[1])
    if not place:
        return []
    python, script, project = place
    rest = list(words[2:])
    turn = ["--turn", rest.pop(0)] if rest and rest[0].isascii() and rest[0].isdigit() else []
    step = "next" if turn else "current"
    if rest and rest[0][:1] not in ("", "-"):
        step = rest.pop(0)
        step = "current" if step == "resume" else step
    return [python, script, "--step", step, "--run", words[1], *turn, "--project", project, *rest]


def is_launcher(word: str) -> bool:
    """True if a word is the absolute path of this user's launcher, in whatever way its folder is reached."""
    return _is_its_place(word) and _is_there()


def missing_for(words: Sequence[str]) -> str:
    """The run that a call of this user's launcher names if the launcher is not there; empty for any other command."""
    if len(words) < 2 or not _is_its_place(words[0]) or not status_files.is_id(words[1]):
        return ""
    return "" if _is_there() and os.access(launcher.place(), os.X_OK) else words[1]


def _is_its_place(word: str) -> bool:
    folder, name = os.path.split(word)
    if name != launcher.NAME or not os.path.isabs(folder) or "\0" in word:
        return False
    return os.path.realpath(folder) == os.path.realpath(os.path.dirname(launcher.place()))


def _is_there() -> bool:
    own = launcher.place()
    return os.path.isfile(own) and not os.path.islink(own)
