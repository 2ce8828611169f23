"""The simple commands of a line with what the line says of each: folder, exit code, and what has changed before."""

from __future__ import annotations

import os

from skills.lib.guard import shell_programs as programs
from skills.lib.guard.shell_git import git_command
from skills.lib.guard.shell_paths import is_shell_script, paths_of
from skills.lib.guard.shell_starts import base, name_of, text_of
from skills.lib.guard.shell_syntax import Raw, Reader
from skills.lib.guard.shell_wrappers import Program, Started
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills.lib.guard.shell_word import Word

FACTS = frozenset(("branch", "head", "tree"))
_NOTHING: frozenset[str] = frozenset()
# Variables that make a test of another thing, or none.
_BENDING = frozenset("PATH MAKEFLAGS PYTEST_ADDOPTS".split())
# These write files that may be run next.
_WRITERS = frozenset("tee cp mv ln install curl wget dd rsync".split())
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


class Commands:
    """Takes what a reader found to the commands that it means: folders, exit codes, what has changed before."""

    def __init__(self, reader: Reader, folder: str) -> None:
        self.reader = reader
        self.reasons: list[str] = []
        self.scripts: list[Sequence[str | None]] = []
        self.folder = folder
        self.changed: frozenset[str] = _NOTHING
        self.found: list[SimpleCommand] = []
        self.is_bent = False
        self.moves = False
        self.written: set[str] = set()

    def all(self) -> tuple[SimpleCommand, ...]:
        """The commands of the line, in their order."""
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
        return tuple(commands)

    def _add(self, raw: Raw, exit_code: str) -> None:
        """Add the programs that a command starts, and follow what it changes."""
        started = Started(raw.is_fed or raw.before == "|")
        for name, value in raw.sets:
            self.is_bent = self.is_bent or name in _BENDING
            if name != "IFS" or [word.text for word in raw.words[:1]] != ["read"]:  # it holds for that word alone
                started.setting(name, value)
        if raw.words:
            started.run(raw.words)
        files = [(operator, word) for operator, word in raw.redirections if _is_file(operator, word)]
        targets = tuple([word for _, word in files])
        folder = self.folder
        for program in started.programs:
            folder = "" if _moves_inside(program) else folder
            words = (name_of(program.words[0]), *[_written(word) for word in program.words[1:]])
            exit_of = exit_code if program.keeps else ""
            self.found.append(
                SimpleCommand(words, program.words, targets, folder, exit_of, program.is_plain, self.changed)
            )
            path = _path(program.words[0], folder)
            if path in self.written:
                started.doubt("it runs a file that the line writes")
            elif "/" in program.words[0].text and (path is None or is_shell_script(path)):
                started.doubt("it runs a script", program.words)
        for program in started.programs:
            self.changed |= _changes(program)
            self._move(program, raw)
            self._note(program, folder)
        written = [word for operator, word in files if operator[0] != "<" or operator == "<>"]
        self.written.update(path for path in paths_of((), written, folder) if path)
        self.changed |= {"tree"} if written else _NOTHING
        self._doubt(started, folder)

    def _doubt(self, started: Started, folder: str) -> None:
        for reason, script in started.doubts:
            if not script:
                self.reasons.append(reason)
            elif not _activates(script, folder):
                self.scripts.append((name_of(script[0]), *[_written(word) for word in script[1:]]))

    def _note(self, program: Program, folder: str) -> None:
        """Note the files that a program writes, and whether it changes what a name means."""
        name = base(program.words[0].text)
        if name in _WRITERS:
            self.written.update(path for path in paths_of(program.words[1:], (), folder) if path)
        if name in ("export", "declare", "typeset", "readonly"):
            self.is_bent = self.is_bent or any(w.head.partition("=")[0] in _BENDING for w in program.words[1:])

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


def _path(word: Word, folder: str) -> str | None:
    """The path of a program, or of a file of its name in the folder; "" if only the shell knows it, None if nobody."""
    if not word.known or word.glob:
        return ""
    text = os.path.expanduser(word.text) if word.tilde else word.text
    return os.path.realpath(os.path.join(folder, text)) if folder or os.path.isabs(text) else None


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
        return {"commit": frozenset(("head",)), "branch": frozenset(("branch", "head"))}.get(command, FACTS)
    if name == "find":
        writes = any(word.text.startswith(("-delete", "-fprint", "-fls")) or not word.known for word in program.words)
        return FACTS if writes else _NOTHING
    return _NOTHING if name in programs.LOOKING else FACTS


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
