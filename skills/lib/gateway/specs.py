"""What a gateway file says, as data: named commands with their parameters and limits, and runners of scripts."""

from __future__ import annotations

import os

from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from skills.lib.schema.patterns import Pattern

# How a parameter's value is used if it is a path: what is there is only read, or it is written. Lockstep's own commands
# also put a file there, into it if it is a folder, and run a script.
READ, WRITE, PUT, SCRIPT = "read", "write", "put", "script"
PATH_USES = (READ, WRITE)
OWN_USES = (*PATH_USES, PUT, SCRIPT)
# Names in braces that every argument list may have: the Python that runs Lockstep, and the project's root.
CONSTANTS = ("python", "project")


class Parameter(Record):
    """A parameter of a command: the pattern that a whole value must match, and what the value is used for."""

    name: str
    pattern: str
    compiled: Pattern
    path: str = ""
    default: str | None = None
    optional: bool = False
    many: bool = False
    longest: int = 0
    about: str = ""

    @property
    def allows_dash(self) -> bool:
        """True if the pattern itself begins with ``-``: only then may a value."""
        return self.pattern.lstrip("^(?:\\").startswith("-")


class Limits(Record):
    """What a process may take: seconds, bytes of kept output; seconds of CPU, bytes of memory, processes (0: any)."""

    seconds: float
    output: int
    cpu: int = 0
    memory: int = 0
    processes: int = 0


class Setting(Record):
    """Where and how a process runs: limits, variables, and the words that put it into a sandbox."""

    limits: Limits
    env: Mapping[str, str]
    inherit: Sequence[str]
    env_vars: Sequence[str]
    sandbox: Sequence[str]


class Runner(Record):
    """The argument list that runs scripts of one suffix."""

    suffix: str
    argv: Sequence[str]
    setting: Setting


class Command(Record):
    """A named command: an argument list with names in braces, or a built-in operation that it ``does``.

    An entry of ``argv`` that is a list of words is left out if a parameter in it was not given.
    """

    name: str
    about: str
    argv: tuple[str | tuple[str, ...], ...]
    does: str
    parameters: Mapping[str, Parameter]
    blocked: tuple[str, ...]
    compiled: tuple[Pattern, ...]
    setting: Setting
    roots: Sequence[str]
    folder: str
    where: str
    of_project: bool


class GatewayFile(Record):
    """The content of one gateway file."""

    commands: Mapping[str, Command]
    runners: Mapping[str, Runner]


def names_in(word: str) -> Iterator[str]:
    """The names that stand in braces in a word of an argument list, in order."""
    for part in word.split("{")[1:]:
        name, brace, _ = part.partition("}")
        if brace and name.isidentifier() and name.isascii():
            yield name


def filled(word: str, values: Mapping[str, str]) -> str:
    """A word with the values in place of the names in braces; a value's own braces are left as they are."""
    first, *rest = word.split("{")
    parts = [first]
    for part in rest:
        name, brace, after = part.partition("}")
        parts.append(values[name] + after if brace and name in values else "{" + part)
    return "".join(parts)


def program_words(argv: Sequence[str | Sequence[str]]) -> list[str]:
    """All words of an argument list, those of optional groups too."""
    return [word for entry in argv for word in ((entry,) if isinstance(entry, str) else entry)]


def is_windows() -> bool:
    """True on Windows."""
    return os.name == "nt"
