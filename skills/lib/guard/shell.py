"""What a line of a shell runs, for the rules of a policy: its simple commands, their arguments, paths and repository.

``read`` takes a line apart without a shell. A line that cannot be taken apart for certain has reasons: it counts as if
it matched every ``shell(…)`` rule with ``needs``, and the answer is "look first": run it as one simple command.
"""

from __future__ import annotations

import os

from skills.lib.guard import shell_plain
from skills.lib.guard.shell_parts import FACTS, SimpleCommand, Word, base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from skills.lib.guard.shell_syntax import Reader

    TreeOf = Callable[[str], str | None]

# What the agent is to do if a line is not certain, by the reason.
_REMEDY = "run it as one simple command"
_OF_SCRIPTS = "run what it does command by command, or ask the user to give the script a rule of its own"
_OF_CODE = "write the code to a file, and run that file in a call of its own"
# The shell that reads a line if nobody says another: POSIX or WINDOWS of shell_words.
_POSIX = "posix"
OF_SYSTEM = _POSIX if os.name != "nt" else "windows"


class Match:
    """A simple command that a rule's name matches, with the words after those of the name.

    If not ``certain``, only the shell knows whether it matches. If not ``is_plain``, it is no evidence: it may be
    another program, or run nothing (``--dry-run``).
    """

    __slots__ = ("args", "at", "certain", "command", "is_plain")

    def __init__(
        self, command: SimpleCommand, args: Sequence[str | None], certain: bool, is_plain: bool, at: int = 1
    ) -> None:
        self.command = command
        self.args = args
        self.certain = certain
        self.is_plain = is_plain
        self.at = at

    def value(self, name: str, has_run: bool = False, tree_of: TreeOf | None = None) -> object:
        """The value of ``$args``, ``$paths``, ``$branch``, ``$head`` or ``$tree``; None if it is not known.

        In the two lists, None stands for words or paths that only the shell knows. Before the line runs, what it
        changes before the command is not known; if it ``has_run``, what it changed after it. ``tree_of`` as for
        ``tree``.
        """
        if name == "args":
            return self.args
        if name == "paths":
            from skills.lib.guard.shell_paths import paths_of  # few rules ask for them

            return paths_of(self.command.parts[self.at :], self.command.targets, self.command.folder)
        if name not in FACTS or name in (self.command.passing if has_run else self.command.unsettled):
            return None
        if name == "tree":
            return self.tree(tree_of)
        from skills.lib.guard import shell_repository, worktree

        folder = shell_repository.folder_of(self.command.words, self.command.folder)
        if not folder:
            return None
        if name == "branch":
            is_push = self.at > 1 and self.command.words[self.at - 1] == "push"
            pushed = shell_repository.pushed_branch(self.args, self.command.parts) if is_push else ""
            return worktree.branch(folder) if pushed == "" else pushed
        return worktree.head(folder)

    def tree(self, tree_of: TreeOf | None = None) -> str | None:
        """The content of the working tree that the command works in, as it is now.

        ``tree_of`` gives that of a folder, by default ``worktree.tree``, which calls git.
        """
        from skills.lib.guard import shell_repository, worktree

        folder = shell_repository.folder_of(self.command.words, self.command.folder)
        return (tree_of or worktree.tree)(folder) if folder else None


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
    words = shell_plain.command(line) if shell == _POSIX else []
    if words:
        texts = tuple([word.text for word in words])
        return ShellLine((SimpleCommand(texts, tuple(words), (), os.path.realpath(folder), "own", True, frozenset()),))
    return read_by_syntax(line, folder, shell)


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


def match(command: SimpleCommand, rule: Sequence[str]) -> Match | None:
    """The match of a rule's words with a command; None if they do not match for certain.

    Options before a subcommand are skipped. The word after an option may be its value, or the subcommand.
    """
    words = command.words
    if not rule or not words:
        return None
    name = base(words[0]) if words[0] is not None else None
    wanted = base(rule[0])
    if name is None or name != wanted:
        return None  # a name that is not known makes the line uncertain
    at = 1
    skipped: list[str | None] = []
    if wanted == "git" and len(rule) > 1:
        from skills.lib.guard.shell_repository import git_command

        at, _ = git_command(command.parts)
        if at < 0:
            return Match(command, (None,), False, False)
    for word in [word for word in rule[1:] if word[:1] != "-"]:
        start = at
        while at < len(words) and words[at] != word:
            given = words[at]
            if given is None or _may_mean(name, given, word, command.parts[at].glob):
                return Match(command, (*skipped, *words[at:]), False, False)
            if given[:1] != "-" and not _takes_many(name):
                before = words[at - 1] if at > start else ""
                if not before or before[:1] != "-" or "=" in before or before == "--":
                    return None
            skipped.append(given)
            at += 1
        if at >= len(words):
            return None
        at += 1
    args = (*skipped, *words[at:])
    has_all = all(_has_option(args, word) for word in rule[1:] if word[:1] == "-")
    if not has_all and None not in args:
        return None
    from skills.lib.guard import shell_evidence  # few lines match a rule

    is_plain = has_all and command.is_plain and shell_evidence.shows(name, args, rule)
    return Match(command, args, has_all, is_plain, 1 if skipped else at)


def _may_mean(name: str, given: str, word: str, is_glob: bool) -> bool:
    """True if a word may stand for the one that is wanted: a pattern, an alias of git, an abbreviation."""
    if is_glob:
        return True
    from skills.lib.guard import shell_programs as programs

    if name == "git":
        return given not in programs.GIT_COMMANDS and given[:1] != "-"
    return name in programs.ABBREVIATING and given != "" and word.startswith(given)


def _takes_many(name: str) -> bool:
    """True if any of a program's operands may be what it is asked to do."""
    from skills.lib.guard.shell_programs import MANY

    return name in MANY


def _has_option(args: Sequence[str | None], option: str) -> bool:
    """True if an option is among the words, in any place: with a value, abbreviated, or as letters of several words."""
    given = [word.partition("=")[0] for word in args if word and word[:1] == "-"]
    if option[:2] == "--":
        return any(len(word) > 2 and option.startswith(word) for word in given)
    return set(option[1:]) <= set("".join([word[1:] for word in given if word[:2] != "--"]))
