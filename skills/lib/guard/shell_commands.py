"""The simple commands of a line with what the line says of each: folder, exit code, and what has changed before."""

from __future__ import annotations

import os

from skills.lib.guard import shell_programs as programs
from skills.lib.guard.shell_matching import MANY
from skills.lib.guard.shell_parts import FACTS, SimpleCommand, base
from skills.lib.guard.shell_paths import is_shell_script, paths_of
from skills.lib.guard.shell_repository import git_command
from skills.lib.guard.shell_starts import name_of, text_of
from skills.lib.guard.shell_syntax import Raw, Reader
from skills.lib.guard.shell_wrappers import Program, Started

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skills.lib.guard.shell_parts import Word

_NOTHING: frozenset[str] = frozenset()
# Variables that make a test of another thing, or none.
_BENDING = (
    *("PATH", "MAKEFLAGS", "GNUMAKEFLAGS", "MFLAGS", "PYTEST_ADDOPTS", "npm_config_", "NPM_CONFIG_", "TOXENV"),
    *("TOX_SKIP", "NOXSESSION", "GOFLAGS"),
)
# These write files that may be run next.
_WRITERS = frozenset("tee cp mv ln install curl wget dd rsync".split())
# The files in which programs find what they are asked to do.
_TASKS = frozenset(("makefile", "gnumakefile", "justfile", ".justfile", "rakefile", "taskfile.yml"))
# Where a redirection leads that writes no file.
_NO_FILES = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr"))


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
        self.may_end: str | None = None
        self.later: list[tuple[int, frozenset[str]]] = []
        self.moves = self.is_odd = False  # whether the folder is changed, and in a way that is not followed
        self.written: set[str] = set()
        self.links: set[str] = set()

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
        if self.reader.has_index and any(_may_index(one) for one in self.found):
            self.reasons.append("it calculates")
        commands = self._with_passing()
        if self.reader.structured or is_joined:
            # The commands of a loop run again, and those in the background at any time.
            commands = [_changed(one, unsettled=self.changed, passing=self.changed) for one in commands]
            if self.moves:
                commands = [_changed(one, folder="") for one in commands]
        if self.is_bent:
            commands = [_changed(one, is_plain=False) for one in commands]
        return tuple(commands)

    def _add(self, raw: Raw, exit_code: str) -> None:
        """Add the programs that a command starts, and follow what it changes."""
        started = Started(raw.is_fed or raw.before == "|")
        for name, value in raw.sets:
            if name != "IFS" or [word.text for word in raw.words[:1]] != ["read"]:  # it holds for that word alone
                started.setting(name, value)
        if raw.words:
            started.run(raw.words)
        self.is_bent = self.is_bent or any(name.startswith(_BENDING) for name in started.variables)
        files = [(operator, word) for operator, word in raw.redirections if _is_file(operator, word)]
        targets = tuple([word for _, word in files])
        folder, start = self.folder, len(self.found)
        if self.may_end is not None:
            exit_code = self.may_end and exit_code and "zero"
        for program in started.programs:
            folder = "" if _moves_inside(program) else folder
            words = (name_of(program.words[0]), *[_written(word) for word in program.words[1:]])
            exit_of = exit_code if program.keeps else ""
            self.found.append(
                SimpleCommand(words, program.words, targets, folder, exit_of, program.is_plain, self.changed)
            )
            path = _path(program.words[0], folder)
            if reason := self._of_written(program, path, folder):
                started.doubt(reason)
            elif "/" in program.words[0].text and (path is None or is_shell_script(path)):
                started.doubt("it runs a script", program.words)
        for at, program in enumerate(started.programs, start):
            changes = _NOTHING if raw.before == "|" and base(program.words[0].text) == "tee" else _changes(program)
            self.later.append((at, changes))
            self.changed |= _changes(program)
            self._end(program)
            self._move(program, raw)
            self._note(program, folder)
        outputs = [word for operator, word in files if operator[0] != "<" or operator == "<>"]
        self.written.update(path for path in paths_of((), outputs, folder) if path)
        if outputs:
            self.changed |= {"tree"}
            self.later.append((start, frozenset(("tree",))))
        self._doubt(started, folder)

    def _doubt(self, started: Started, folder: str) -> None:
        for reason, script in started.doubts:
            if not script:
                self.reasons.append(reason)
            elif not _activates(script, folder):
                self.scripts.append((name_of(script[0]), *[_written(word) for word in script[1:]]))

    def _with_passing(self) -> list[SimpleCommand]:
        """The commands, each with what the ones after it may change; a log that ``tee`` writes does not count."""
        changes = [_NOTHING] * (len(self.found) + 1)
        for at, one in self.later:
            changes[at] |= one
        commands = list(self.found)
        for at in range(len(commands) - 1, -1, -1):
            commands[at] = _changed(commands[at], passing=changes[at + 1]) if changes[at + 1] else commands[at]
            changes[at] |= changes[at + 1]
        return commands

    def _end(self, program: Program) -> None:
        """Note a command after which the shell may run nothing, with the exit code 0 unless another is written out."""
        name, words = base(program.words[0].text), [word.text for word in program.words[1:]]
        is_unread = name == "set" and any(word[:1] == "-" and "n" in word for word in words)
        if is_unread or "noexec" in words or name == "logout" or (name == "exec" and words):
            self.may_end = ""
        elif name in ("exit", "return"):
            is_failure = len(words) == 1 and words[0].isdigit() and int(words[0]) % 256 != 0
            self.may_end = "failing" if is_failure and self.may_end != "" else ""

    def _note(self, program: Program, folder: str) -> None:
        """Note the files that a program writes, and whether it changes what a name means."""
        name = base(program.words[0].text)
        if name in _WRITERS:
            words = [word.rest(3) if name == "dd" and word.head[:3] == "of=" else word for word in program.words[1:]]
            self.written.update(path for path in paths_of(words, (), folder) if path)
        if name == "ln":
            operands = [text for word in program.words[1:] if (text := text_of(word)) and text[:1] != "-"]
            places = [operands[-1], os.path.basename(operands[-1].rstrip("/"))] if operands else []
            self.links.update(os.path.normpath(os.path.join(folder, place)) for place in places)

    def _of_written(self, program: Program, path: str | None, folder: str) -> str:
        """Why a program may run, or reach, what an earlier command of the line wrote; "" if it does not."""
        name = base(program.words[0].text)
        if path in self.written or (path and self.written and self._is_module(program, folder)):
            return "it runs a file that the line writes"
        if not self.written or name in programs.LOOKING:
            return ""
        if name == "git" and _changes(program) and any("/.git/" in one for one in self.written):
            return "git may run a file that the line writes"
        paths = [one for one in paths_of(program.words[1:], (), folder) if one]
        if name in MANY:
            made = [one for one in self.written if os.path.basename(one).lower() in _TASKS]
            files = [os.path.join(folder, word.text[2:]) for word in program.words if word.text[:2] == "-f"]
            if made or not self.written.isdisjoint([*paths, *files]):
                return f"{name} may read a file that the line writes"
        if any(one.startswith(f"{link}/") for link in self.links for one in _unresolved(program.words[1:], folder)):
            return "it follows a link that the line makes"
        return ""

    def _is_module(self, program: Program, folder: str) -> bool:
        """True if the line writes a module, or a file in a package, of a program's name."""
        stem = os.path.realpath(os.path.join(folder, program.words[0].text.replace(".", "/")))
        return any(one == f"{stem}.py" or one.startswith(f"{stem}/") for one in self.written)

    def _move(self, program: Program, raw: Raw) -> None:
        """Follow ``cd``."""
        name, texts = base(program.words[0].text), [word.text for word in program.words[1:]]
        if name == "setopt" or (name == "set" and any(one == "physical" or _has_physical(one) for one in texts)):
            self.is_odd = True
        if name in ("pushd", "popd", "z", "j", "zi"):
            self.folder, self.moves = "", True
        if name not in ("cd", "chdir"):
            return
        self.moves = True
        operands = [word for word in program.words[1:] if word.text not in ("--", "-P", "-L")]
        target = text_of(operands[0]) if operands else os.path.expanduser("~")
        is_physical = [one for one in texts if one in ("-P", "-L")][-1:] == ["-P"]
        is_relative = target is not None and not os.path.isabs(target)
        is_followed = not (self.is_odd or raw.nested or "|" in (raw.before, raw.after))
        if target is None or len(operands) > 1 or target[:1] == "-" or not is_followed:
            self.folder = ""
        elif operands and operands[0].tilde:
            self.folder = os.path.expanduser(target) if target[:2] in ("~", "~/") else ""
        elif (is_relative and not self.folder) or (is_relative and target[:1] != "." and "CDPATH" in os.environ):
            self.folder = ""
        else:
            moved = (os.path.realpath if is_physical else os.path.normpath)(os.path.join(self.folder, target))
            self.folder = moved if raw.after == "&&" or os.path.isdir(moved) else ""


def _may_index(command: SimpleCommand) -> bool:
    """True for a builtin that calculates, with a word that only the shell knows."""
    is_known = all(word.known for word in command.parts[1:])
    return not is_known and base(command.words[0] or "") in programs.INDEXING


def _has_physical(text: str) -> bool:
    return text[:1] == "-" and text[1:2] != "-" and "P" in text


def _path(word: Word, folder: str) -> str | None:
    """The path of a program, or of a file of its name in the folder; "" if only the shell knows it, None if nobody."""
    if not word.known or word.glob:
        return ""
    text = os.path.expanduser(word.text) if word.tilde else word.text
    return os.path.realpath(os.path.join(folder, text)) if folder or os.path.isabs(text) else None


def _unresolved(words: Sequence[Word], folder: str) -> list[str]:
    """The paths that words may name, without a link followed; a slash at the end stays."""
    texts = [word.text for word in words if word.text]
    return [os.path.normpath(os.path.join(folder, text)) + ("/" if text[-1:] == "/" else "") for text in texts]


def _activates(script: Sequence[Word], folder: str) -> bool:
    """True for the script that activates a virtual environment of Python, if it is in one."""
    path = text_of(script[0])
    above, _, name = (path or "").rpartition("/bin/")
    place = os.path.join(folder, os.path.expanduser(above) if script[0].tilde else above)
    return name == "activate" and len(script) == 1 and bool(folder) and os.path.isfile(f"{place}/pyvenv.cfg")


def _changed(command: SimpleCommand, **fields: object) -> SimpleCommand:
    known = {name: getattr(command, name) for name in SimpleCommand.__slots__}
    return SimpleCommand(**{**known, **fields})


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
