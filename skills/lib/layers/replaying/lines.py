"""What a line of a shell runs, as the guard reads it: programs, what feeds them, where they write."""

from __future__ import annotations

import posixpath

from skills.lib.guard.shell_parts import base
from skills.lib.guard.shell_repository import git_command
from skills.lib.guard.shell_syntax import Raw, Reader
from skills.lib.guard.shell_word import Unclear
from skills.lib.guard.shell_wrappers import Program, Started
from skills.lib.record import Record

# Operators of redirections that write.
_WRITES = (">", ">>", ">|", "<>")
# What a line is not joined by for certain.
_UNSURE = ("||", "&")


class Command(Record):
    """A simple command of a line with the programs that it starts, the outermost first.

    ``programs`` are lists of words, None for what only the shell knows. ``folder`` is where it runs, below the folder
    of the line; None if that is not known. ``before`` and ``after`` are the operators around it. ``writes`` and
    ``reads`` are the files of its redirections.
    """

    programs: tuple[tuple[str | None, ...], ...]
    folder: str | None
    before: str
    after: str
    writes: tuple[str, ...]
    reads: tuple[str, ...]
    is_fed: bool


class Line(Record):
    """The commands of a line. ``is_certain`` is False if there may be more, or the exit may be of any of them."""

    commands: tuple[Command, ...]
    is_certain: bool


def read(text: str) -> Line:
    """The commands of a line of a POSIX shell; those up to where nobody can say what follows."""
    reader = Reader("")
    is_certain = True
    try:
        reader = Reader(text)
        reader.read()
    except Unclear:
        is_certain = False
    folder: str | None = ""
    above: list[str | None] = []
    found: list[Command] = []
    for item in reader.items:
        if item == "(":
            above.append(folder)
        elif item == ")":
            folder = above.pop() if above else None
        elif isinstance(item, Raw):
            command = _command(item, folder)
            found.append(command)
            folder = _moved(command, folder)
            is_certain = is_certain and not item.is_negated
    return Line(tuple(found), is_certain and not reader.structured)


def name_of(words: tuple[str | None, ...]) -> str:
    """The name of a program; of a module that Python runs, that of the module. Empty if it is not written out."""
    first = base(words[0]) if words and words[0] else ""
    if first.startswith("python") and words[1:2] == ("-m",) and len(words) > 2 and words[2]:
        return words[2]
    return first


def git_subcommand(words: tuple[str | None, ...]) -> str:
    """What git is asked to do; empty for another program."""
    if name_of(words) != "git":
        return ""
    from skills.lib.guard.shell_parts import Word

    at, _ = git_command([Word(word or "", word is not None) for word in words])
    return words[at] or "" if 0 < at < len(words) else ""


def last(line: Line) -> list[Command]:
    """The commands whose exit code may be that of the line."""
    segment: list[Command] = []
    for command in line.commands:
        if command.before in (";", "\n", "&"):
            segment = []
        segment.append(command)
    if not line.is_certain or any(command.after in _UNSURE for command in segment):
        return list(line.commands)
    return [command for command in segment if command.after not in ("|", "|&")]


def feeders(line: Line, command: Command) -> list[Command]:
    """The commands of the pipe before one, the nearest last."""
    at = line.commands.index(command)
    start = at
    while start > 0 and line.commands[start].before in ("|", "|&"):
        start -= 1
    return list(line.commands[start:at])


def _command(raw: Raw, folder: str | None) -> Command:
    started = Started(raw.is_fed or raw.before in ("|", "|&"))
    if raw.words:
        started.run(raw.words)
    files = [(operator, word.text) for operator, word in raw.redirections if word.known and not word.glob]
    return Command(
        tuple(_words(program) for program in started.programs),
        folder,
        raw.before,
        raw.after,
        tuple(path for operator, path in files if operator in _WRITES),
        tuple(path for operator, path in files if operator == "<"),
        raw.is_fed,
    )


def _words(program: Program) -> tuple[str | None, ...]:
    return tuple(word.text if word.known else None for word in program.words)


def _moved(command: Command, folder: str | None) -> str | None:
    """The folder after a command."""
    words = command.programs[0] if command.programs else ()
    name = name_of(words)
    if name in ("pushd", "popd"):
        return None
    if name not in ("cd", "chdir"):
        return folder
    operands = [word for word in words[1:] if word not in ("--", "-P", "-L")]
    if (
        len(operands) != 1
        or operands[0] is None
        or operands[0][:1] in ("-", "~")
        or "|" in command.before + command.after
    ):
        return None
    if posixpath.isabs(operands[0]):
        return posixpath.normpath(operands[0])
    return None if folder is None else posixpath.normpath(posixpath.join(folder, operands[0]))
