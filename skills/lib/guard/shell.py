"""What a line of a shell runs, for the rules of a policy: its simple commands, their arguments, paths and repository.

``read`` takes a line apart without a shell. A line that cannot be taken apart for certain has reasons: it counts as if
it matched every ``shell(…)`` rule with ``needs``, and the answer is "look first": run it as one simple command.
"""

from __future__ import annotations

import os

from skills.lib.guard import shell_plain
from skills.lib.guard.shell_matching import Match, match
from skills.lib.guard.shell_parts import Word, base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skills.lib.guard.shell_parts import SimpleCommand
    from skills.lib.guard.shell_syntax import Reader

# What the agent is to do if a line is not certain, by the reason.
_REMEDY = "run it as one simple command"
_OF_SCRIPTS = "run what it does command by command, or ask the user to give the script a rule of its own"
_OF_CODE = "write the code to a file, and run that file in a call of its own"
# The shell that reads a line if nobody says another: POSIX or WINDOWS of shell_words.
_POSIX = "posix"
OF_SYSTEM = _POSIX if os.name != "nt" else "windows"


class ShellLine:
    """The simple commands of a line in their order, and the reasons why there may be more.

    ``scripts`` has the words of each script that the line runs: a rule that names the script answers for it.
    """

    __slots__ = ("commands", "reasons", "scripts")

    def __init__(
        self,
        commands: Sequence[SimpleCommand],
        reasons: Sequence[str] = (),
        scripts: Sequence[Sequence[str | None]] = (),
    ) -> None:
        self.commands = commands
        self.reasons = reasons
        self.scripts = scripts

    @property
    def certain(self) -> bool:
        """True if the line was taken apart for certain, and runs no script of a shell."""
        return not self.reasons and not self.scripts

    def is_certain(self, rules: Iterable[Sequence[str]]) -> bool:
        """``certain``, where a script that is named by one of the rules (``shell(deploy.sh)``) counts as a program."""
        if self.reasons:
            return False
        named = [rule for rule in rules if rule]
        return all(any(_is_named(script, rule) for rule in named) for script in self.scripts)

    def matches(self, rule: Sequence[str]) -> list[Match]:
        """The commands that a rule's words (``rule_words``) match, in their order."""
        found = [match(command, rule) for command in self.commands]
        return [one for one in found if one is not None]


def remedy(reason: str) -> str:
    """What the agent is to do about a line that is not certain for a reason."""
    if "a script" in reason:
        return _OF_SCRIPTS
    from skills.lib.guard.shell_programs import INTERPRETERS

    is_code = any(f"what {name} runs is not seen" in reason for name in ("Python", *INTERPRETERS))
    return _OF_CODE if is_code else _REMEDY


def rule_words(name: str) -> tuple[str, ...]:
    """The words of a rule's name ``shell(git push)``; empty for a name of another kind."""
    return tuple(name[len("shell(") : -1].split()) if name.startswith("shell(") and name.endswith(")") else ()


def read(line: str, folder: str, shell: str = OF_SYSTEM) -> ShellLine:
    """The simple commands of a line that a shell runs in a folder: one of POSIX, PowerShell, or any of Windows."""
    plain = shell_plain.simple_command(line, folder) if shell == _POSIX else None
    return ShellLine((plain,)) if plain else read_by_syntax(line, folder, shell)


def read_by_syntax(line: str, folder: str, shell: str = OF_SYSTEM) -> ShellLine:
    """The same as ``read`` for any line: what is written in quotes, substituted, redirected, or started by another."""
    from skills.lib.guard.shell_syntax import Reader
    from skills.lib.guard.shell_word import Unclear

    reasons: list[str] = []
    reader: Reader | None = None
    if shell != _POSIX:
        from skills.lib.guard import shell_windows  # few lines are read by one

        commands = shell_windows.commands_of(line, shell)
        if commands is not None:
            return _of_commands(commands, folder)
        reasons.append("PowerShell and cmd may read it in ways of their own")
    try:
        reader = Reader(line)
        reader.read()
    except Unclear as unclear:
        reasons.append(str(unclear))
    if reader is None:
        return ShellLine((), reasons)
    return _line(reader, folder, reasons)


def of_words(words: Sequence[str], folder: str) -> ShellLine:
    """The simple commands of a call that gives its words as a list, which no shell reads."""
    return _of_commands([words], folder)


def _of_commands(commands: Sequence[Sequence[str]], folder: str) -> ShellLine:
    """The simple commands of a line whose words are known, joined by ``&&``."""
    from skills.lib.guard.shell_syntax import Raw, Reader

    reader = Reader("")
    for words in commands:
        raw = Raw("&&" if reader.items else "", 0)
        raw.words = [Word(word) for word in words]
        for word in raw.words:
            word.quoted = True
        if isinstance(last := reader.items[-1] if reader.items else "", Raw):
            last.after = "&&"
        reader.items.append(raw)
    return _line(reader, folder, [])


def _line(reader: Reader, folder: str, reasons: list[str]) -> ShellLine:
    from skills.lib.guard.shell_commands import Commands

    commands = Commands(reader, os.path.realpath(folder))
    found = commands.all()
    return ShellLine(found, (*reasons, *commands.reasons), tuple(commands.scripts))


def _is_named(script: Sequence[str | None], rule: Sequence[str]) -> bool:
    """True if a rule's words begin a call of a script."""
    first = script[0]
    return first is not None and base(first) == base(rule[0]) and tuple(script[1 : len(rule)]) == tuple(rule[1:])
