"""What a line of a shell runs, for the rules of a policy: its simple commands, their arguments, paths and repository.

``read`` takes a line apart without a shell. A line that cannot be taken apart for certain has reasons: it counts as if
it matched every ``shell(…)`` rule with ``needs``, and the answer is "look first": run it as one simple command.
"""

from __future__ import annotations

import os

from skills.lib.guard import shell_programs as programs
from skills.lib.guard.shell_paths import paths_of
from skills.lib.guard.shell_syntax import Raw, Reader, Unclear, Word
from skills.lib.guard.shell_wrappers import Program, Started, base, git_command, text_of
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# What the agent is to do if a line is not certain.
REMEDY = "run it as one simple command"
_FACTS = frozenset(("branch", "head", "tree"))
_NOTHING: frozenset[str] = frozenset()
# Variables that make a test of another thing, or none.
_BENDING = frozenset("PATH MAKEFLAGS PYTEST_ADDOPTS".split())
# With these a program only shows what it would do, or makes little of a failure.
_DRY = ("--dry-run", "--help", "--version", "--collect-only", "--co", "--list", "--no-run", "--just-print", "--recon")
_DRY_OF_MAKE = frozenset("nqthvi")
# Where a redirection leads that writes no file.
_NO_FILES = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr"))


class SimpleCommand(Record):
    """A program with its words, as a line starts it, by itself or through others (``env``, ``xargs``).

    ``words`` has None for what only the shell knows: one word, several or none. ``folder`` is where it runs, "" if that
    is not known. ``exit`` is "own" if the exit code of the line is this command's, "zero" if the exit code 0 of the
    line means that this command ended with 0, else "". ``is_plain`` is False if it may be another program than its name
    says. ``unsettled`` has those of branch, head and tree that the line may change before the command runs.
    """

    words: Sequence[str | None]
    parts: Sequence[Word]
    targets: Sequence[Word]
    folder: str
    exit: str
    is_plain: bool
    unsettled: frozenset[str]

    def result_exit(self, exit_code: int | None) -> int | None:
        """The exit code of this command, from that of the line; None if it is not known."""
        return exit_code if self.exit == "own" or (self.exit == "zero" and exit_code == 0) else None


class Match(Record):
    """A simple command that a rule's name matches, with the words after those of the name.

    If not ``certain``, only the shell knows whether it matches. If not ``is_plain``, it is no evidence: it may be
    another program, or run nothing (``--dry-run``).
    """

    command: SimpleCommand
    args: Sequence[str | None]
    certain: bool
    is_plain: bool
    at: int = 1

    def value(self, name: str) -> object:
        """The value of ``$args``, ``$paths``, ``$branch``, ``$head`` or ``$tree``; None if it is not known.

        In the two lists, None stands for words or paths that only the shell knows. Only ``tree`` calls git.
        """
        if name == "args":
            return self.args
        if name == "paths":
            return paths_of(self.command.parts[self.at :], self.command.targets, self.command.folder)
        if name not in _FACTS or name in self.command.unsettled:
            return None
        from skills.lib.guard import worktree

        folder = _repository(self.command)
        if not folder:
            return None
        if name == "branch":
            pushed = _pushed(self.command)
            return worktree.branch(folder) if pushed == "" else pushed
        return worktree.head(folder) if name == "head" else worktree.tree(folder)


class ShellLine(Record):
    """The simple commands of a line in their order, and the reasons why there may be more.

    ``scripts`` has the words of each script that the line runs: a rule that names the script answers for it.
    """

    commands: Sequence[SimpleCommand]
    reasons: Sequence[str] = ()
    scripts: Sequence[Sequence[str | None]] = ()

    @property
    def certain(self) -> bool:
        """True if the line was taken apart for certain, and runs no script of a shell."""
        return not self.reasons and not self.scripts

    def is_certain(self, rules: Iterable[Sequence[str]]) -> bool:
        """``certain``, where a script that is named by one of the rules (``shell(deploy.sh)``) counts as a program."""
        if self.reasons:
            return False
        named = [rule[-1].rpartition("/")[2] for rule in rules if rule]
        return all(script and (script[0] or "").rpartition("/")[2] in named for script in self.scripts)

    def matches(self, rule: Sequence[str]) -> list[Match]:
        """The commands that a rule's words (``rule_words``) match, in their order."""
        found = [match(command, rule) for command in self.commands]
        return [one for one in found if one is not None]


def rule_words(name: str) -> tuple[str, ...]:
    """The words of a rule's name ``shell(git push)``; empty for a name of another kind."""
    return tuple(name[len("shell(") : -1].split()) if name.startswith("shell(") and name.endswith(")") else ()


def read(line: str, folder: str) -> ShellLine:
    """The simple commands of a line that a shell runs in a folder."""
    reasons: list[str] = []
    reader: Reader | None = None
    if os.name == "nt" and set(line) & set("'`^%$(){};\\\n@!"):
        reasons.append("the shells of Windows read it in different ways")
    try:
        reader = Reader(line)
        reader.read()
    except Unclear as unclear:
        reasons.append(str(unclear))
    if reader is None:
        return ShellLine((), reasons)
    return _Commands(reader, os.path.realpath(folder), reasons).line()


def of_words(words: Sequence[str], folder: str) -> ShellLine:
    """The simple commands of a call that gives its words as a list, which no shell reads."""
    raw = Raw("", 0)
    raw.words = [Word(word) for word in words]
    for word in raw.words:
        word.quoted = True
    reader = Reader("")
    reader.items.append(raw)
    return _Commands(reader, os.path.realpath(folder), []).line()


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
        at, _ = git_command(command.parts)
        if at < 0:
            return Match(command, (None,), False, False)
    letters = ""
    for word in rule[1:]:
        if word[:1] == "-" and word[1:2] not in ("", "-"):
            letters += word[1:]
            continue
        start = at
        while at < len(words) and words[at] != word:
            given = words[at]
            if given is None or _may_mean(name, given, word, command.parts[at].glob):
                return Match(command, (*skipped, *words[at:]), False, False)
            if given[:1] != "-" and name not in programs.MANY:
                before = words[at - 1] if at > start else ""
                if not before or before[:1] != "-" or "=" in before or before == "--":
                    return None
            skipped.append(given)
            at += 1
        if at >= len(words):
            return None
        at += 1
    args = (*skipped, *words[at:])
    if letters and not _has_letters(args, letters):
        return Match(command, args, False, False, at) if None in args else None
    is_plain = command.is_plain and not _is_dry(name, args)
    return Match(command, args, True, is_plain, at - len(skipped) if not skipped else 1)


def _may_mean(name: str, given: str, word: str, is_glob: bool) -> bool:
    """True if a word may stand for the one that is wanted: a pattern, an alias of git, an abbreviation."""
    if is_glob:
        return True
    if name == "git":
        return given not in programs.GIT_COMMANDS and given[:1] != "-"
    return name in programs.ABBREVIATING and given != "" and word.startswith(given)


def _has_letters(args: Sequence[str | None], letters: str) -> bool:
    """True if the short options among the words have all these letters."""
    given = "".join([word[1:] for word in args if word and word[:1] == "-" and word[:2] != "--"])
    return set(letters) <= set(given)


def _is_dry(name: str, args: Sequence[str | None]) -> bool:
    if name in ("make", "gmake"):
        clusters = [word for word in args if word and word[:1] == "-" and word[:2] != "--"]
        if any(_DRY_OF_MAKE & set(cluster) for cluster in clusters) or "--ignore-errors" in args:
            return True
    return any(word is None or word.startswith(_DRY) for word in args)


def _repository(command: SimpleCommand) -> str:
    """The folder in which a command of git works; "" if it is not known."""
    folder = command.folder
    if not folder or base(command.words[0] or "") != "git":
        return folder
    for at, word in enumerate(command.words[1:-1], 1):
        if word is None or word.startswith(("--git-dir", "--work-tree")):
            return ""
        if word == "-C":
            following = command.words[at + 1]
            if following is None:
                return ""
            folder = os.path.join(folder, following)
        elif word in programs.GIT_COMMANDS:
            break
    return folder


def _pushed(command: SimpleCommand) -> str | None:
    """The branch that ``git push`` names, "" if it names none, None if it names several or only the shell knows."""
    at = git_command(command.parts)[0] if base(command.words[0] or "") == "git" else -1
    if at < 0 or at >= len(command.words) or command.words[at] != "push":
        return ""
    args = command.words[at + 1 :]
    if None in args or any(word in ("--all", "--mirror", "--branches", "--tags") for word in args):
        return None
    operands = [word for word in args if word and word[:1] != "-"]
    takes_value = any(word in ("-o", "--push-option", "--repo", "--receive-pack", "--exec") for word in args)
    if len(operands) < 2 and not takes_value:
        return ""
    if len(operands) != 2 or takes_value:
        return None
    _, _, target = operands[1].lstrip("+").rpartition(":")
    if target in ("HEAD", "@", "") or "*" in target:
        return "" if target in ("HEAD", "@") and ":" not in operands[1] else None
    return target.removeprefix("refs/heads/")


class _Commands:
    """Takes what a reader found to the commands that it means: folders, exit codes, what has changed before."""

    def __init__(self, reader: Reader, folder: str, reasons: list[str]) -> None:
        self.reader, self.reasons = reader, reasons
        self.scripts: list[Sequence[str | None]] = []
        self.folder = folder
        self.changed: frozenset[str] = _NOTHING
        self.found: list[SimpleCommand] = []
        self.is_bent = False
        self.moves = False

    def line(self) -> ShellLine:
        """The line as it is taken."""
        items = self.reader.items
        exits = _exits(self.reader)
        saved: list[str] = []
        is_joined = any(not isinstance(item, str) and item.after == "&" for item in items)
        for item in items:
            if item == "(":
                saved.append(self.folder)
            elif item == ")":
                self.folder = saved.pop() if saved else ""
            elif not isinstance(item, str):
                self._add(item, exits.get(id(item), ""))
        commands = self.found
        if self.reader.structured or is_joined:
            # The commands of a loop run again, and those in the background at any time.
            commands = [_changed(one, unsettled=self.changed) for one in commands]
            if self.moves:
                commands = [_changed(one, folder="") for one in commands]
        if self.is_bent:
            commands = [_changed(one, is_plain=False) for one in commands]
        return ShellLine(tuple(commands), tuple(self.reasons), tuple(self.scripts))

    def _add(self, raw: Raw, exit_code: str) -> None:
        started = Started(raw.is_fed or raw.before == "|")
        for name, value in raw.sets:
            self.is_bent = self.is_bent or name in _BENDING
            started.setting(name, value)
        if raw.words:
            started.run(raw.words)
        targets = tuple([word for operator, word in raw.redirections if _is_file(operator, word)])
        folder = self.folder
        for program in started.programs:
            folder = "" if _moves_inside(program) else folder
            words = tuple([_written(word) for word in program.words])
            exit_of = exit_code if program.keeps else ""
            self.found.append(
                SimpleCommand(words, program.words, targets, folder, exit_of, program.is_plain, self.changed)
            )
        for program in started.programs:
            self.changed |= _changes(program)
            self._move(program, raw)
            self.is_bent = self.is_bent or (
                base(program.words[0].text) in ("export", "declare", "typeset", "readonly")
                and any(word.head.partition("=")[0] in _BENDING for word in program.words[1:])
            )
        if any(
            operator[0] != "<" or operator == "<>" for operator, word in raw.redirections if _is_file(operator, word)
        ):
            self.changed |= {"tree"}
        for reason, script in started.doubts:
            if script and _activates(script, folder):
                continue
            if script:
                self.scripts.append(tuple([_written(word) for word in script]))
            else:
                self.reasons.append(reason)

    def _move(self, program: Program, raw: Raw) -> None:
        """Follow ``cd``."""
        name = base(program.words[0].text)
        if name in ("pushd", "popd", "z", "j", "zi"):
            self.folder, self.moves = "", True
        if name not in ("cd", "chdir"):
            return
        self.moves = True
        operands = [word for word in program.words[1:] if word.text not in ("--", "-P", "-L")]
        target = text_of(operands[0]) if operands else os.path.expanduser("~")
        is_relative = target is not None and not os.path.isabs(target)
        if target is None or len(operands) > 1 or target[:1] == "-" or raw.nested or "|" in (raw.before, raw.after):
            self.folder = ""
        elif operands and operands[0].tilde:
            self.folder = os.path.expanduser(target) if target[:2] in ("~", "~/") else ""
        elif (is_relative and not self.folder) or (is_relative and target[:1] != "." and "CDPATH" in os.environ):
            self.folder = ""
        else:
            moved = os.path.normpath(os.path.join(self.folder, target))
            self.folder = moved if raw.after == "&&" or os.path.isdir(moved) else ""


def _activates(script: Sequence[Word], folder: str) -> bool:
    """True for the script that activates a virtual environment of Python, if it is in one."""
    path = text_of(script[0])
    above, _, name = (path or "").rpartition("/bin/")
    place = os.path.join(folder, os.path.expanduser(above) if script[0].tilde else above)
    return name == "activate" and len(script) == 1 and bool(folder) and os.path.isfile(f"{place}/pyvenv.cfg")


def _changed(command: SimpleCommand, **fields: object) -> SimpleCommand:
    return SimpleCommand(**{**command.fields(), **fields})  # type: ignore[arg-type]


def _written(word: Word) -> str | None:
    """The text of a word as the command gets it, None if only the shell knows; a pattern stays as it was typed.

    A pattern that begins with its sign may become an option: a file may have such a name.
    """
    if not word.known or (word.glob and word.text[:1] in ("*", "?", "[", "-")):
        return None if word.text != "[" else "["
    return word.text


def _is_file(operator: str, word: Word) -> bool:
    """True if a redirection names a file."""
    if operator in ("<<", "<<-", "<<<") or (word.known and word.text in _NO_FILES):
        return False
    is_number = word.known and (word.text.rstrip("-").isdigit() or word.text == "-")
    return not (operator in (">&", "<&") and is_number)


def _moves_inside(program: Program) -> bool:
    """True if a program runs another one in a folder of its own."""
    options = ("-C", "--chdir", "--directory", "--cwd", "-D", "-R", "--chroot", "-execdir", "-okdir")
    name = base(program.words[0].text)
    is_wrapper = name in programs.WRAPPERS or name in programs.RUNNERS or name == "find"
    return is_wrapper and any(word.text.startswith(options) for word in program.words[1:])


def _changes(program: Program) -> frozenset[str]:
    """Those of branch, head and tree that a program may change."""
    name = base(program.words[0].text)
    if name == "git":
        at, _ = git_command(program.words)
        command = program.words[at].text if 0 < at < len(program.words) else ""
        if command in programs.GIT_LOOKING or 0 < at == len(program.words):
            return _NOTHING
        return {"commit": frozenset(("head",)), "branch": frozenset(("branch", "head"))}.get(command, _FACTS)
    if name == "find":
        writes = any(word.text.startswith(("-delete", "-fprint", "-fls")) or not word.known for word in program.words)
        return _FACTS if writes else _NOTHING
    return _NOTHING if name in programs.LOOKING else _FACTS


def _exits(reader: Reader) -> dict[int, str]:
    """What the exit code of the line says of each command, by its id; those that are not there, it says nothing of."""
    raws, depth = [], 0
    for item in reader.items:
        if isinstance(item, str):
            depth += 1 if item == "(" else -1
        elif not depth:
            raws.append(item)
    if reader.structured or not raws or raws[-1].after == "&":
        return {}
    is_piped_whole = any(_sets_pipefail(raw) for raw in raws)
    start = max((at for at, raw in enumerate(raws) if raw.before in (";", "&")), default=0)
    last = raws[start:]
    if any("||" in (raw.before, raw.after) or raw.is_negated for raw in last):
        return {}
    is_chain = any(raw.after == "&&" for raw in last)
    found = {}
    for raw in last:
        if raw.after != "|":
            found[id(raw)] = "zero" if is_chain else "own"
        elif is_piped_whole:
            found[id(raw)] = "zero"
    return found


def _sets_pipefail(raw: Raw) -> bool:
    words = [word.text for word in raw.words]
    return words[:1] == ["set"] and "pipefail" in words and any(word[:1] == "-" and "o" in word for word in words)
