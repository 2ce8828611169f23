"""Variables in the texts of a skill: each is replaced once, and what a value brings is never looked at again."""

from __future__ import annotations

import datetime
import getpass
import os
import re
import shlex

from skills.lib.agent.prose.supporting import is_script
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ARGUMENTS = "ARGUMENTS"
# $10 and $1.50 are amounts of money; a backslash keeps what follows as it stands.
_VARIABLE = re.compile(
    r"(?P<kept>\\)?\$(?:\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)\}|(?P<all>ARGUMENTS)(?![A-Za-z0-9_])"
    r"|(?P<position>[1-9])(?![0-9]|[.,][0-9]))"
)
# A program of awk or the like in single quotes has its own $1.
_PROGRAM = re.compile(r"'[^'\n]*\{[^'\n]*'")


class Substituted(Record):
    """A text without its variables; ``unknown`` are those that have no value, as they were written."""

    text: str
    unknown: Sequence[str] = ()


def values(skill_folder: str, project: str, run: str, arguments: str) -> dict[str, str]:
    """The values of the variables by name, for one run of a skill."""
    names = {
        "CLAUDE_SESSION_ID": run,
        "SESSION_ID": run,
        "SKILL_DIR": skill_folder,
        "CLAUDE_SKILL_DIR": skill_folder,
        "WORKSPACE": project,
        "USER": _user(),
        "DATE": datetime.datetime.now().astimezone().date().isoformat(),
        ARGUMENTS: arguments,
    }
    words = _words(arguments)[:9]
    return {**names, **{str(number): word for number, word in enumerate(words, 1)}}


def substituted(text: str, given: Mapping[str, str]) -> Substituted:
    """A text with the values in place of their variables; one that has no value stays as it is."""
    unknown: dict[str, None] = {}
    programs = [match.span() for match in _PROGRAM.finditer(text)]

    def value(match: re.Match[str]) -> str:
        name = match["name"] or match["all"] or match["position"]
        if match["position"] and any(begin < match.start() < end for begin, end in programs):
            return match[0]
        if match["kept"]:
            return match[0][1:] if name in given else match[0]
        if name not in given:
            unknown[match[0]] = None
            return match[0]
        return given[name]

    return Substituted(_VARIABLE.sub(value, text), tuple(unknown))


def in_files(folder: str, given: Mapping[str, str]) -> Callable[[str, str], str]:
    """A function of a path and the text there: the text with the values if the path is a file of the skill in a folder.

    A script is read as it stands, for it is run as it stands.
    """
    inside = os.path.join(os.path.realpath(folder), "")

    def replaced(path: str, text: str) -> str:
        if not path.startswith(inside) or is_script(os.path.relpath(path, inside)):
            return text
        return substituted(text, given).text

    return replaced


def names_arguments(text: str) -> bool:
    """True if a text has ``$ARGUMENTS`` as a variable."""
    return any(not match["kept"] and ARGUMENTS in (match["all"], match["name"]) for match in _VARIABLE.finditer(text))


def _words(arguments: str) -> list[str]:
    """The words of arguments as a shell splits them; by blanks if a quote is not closed, as in ``don't``."""
    try:
        return shlex.split(arguments)
    except ValueError:
        return arguments.split()


def _user() -> str:
    """The name of the user; the number if the system knows no name."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return str(os.getuid()) if hasattr(os, "getuid") else "user"
