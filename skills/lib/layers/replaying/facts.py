"""What the results of a session have shown: which files are there, which are not, and how commands ended."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from skills.lib.layers.replaying.events import Call
from skills.lib.layers.replaying.lines import Command, git_subcommand, last, name_of, read
from skills.lib.layers.replaying.searching import FINDERS, GREPS
from skills.lib.record import Record

# Of an output, so much is looked through for the names of files (characters).
_LONGEST = 200_000
# Programs that print names, and nothing but names, in the form of a path.
_LISTERS = FINDERS | {"ls", "tree", "realpath"}
# Programs that fail for a file that is not there, and show it if they succeed.
_OPENERS = frozenset("cat tac head tail nl less more bat sed wc stat file ls test [ diff cmp sha256sum".split()) | GREPS
# Of these, 1 is an answer about files that they have read.
_COMPARERS = GREPS | {"diff", "cmp"}
# These print what they are told.
_ECHOES = frozenset("echo printf true : yes".split())
_OF_GIT = frozenset("ls-files status diff show log diff-tree ls-tree".split())
# So many words of a command are looked at for the names of files.
_MOST = 200
_MISSING = ("No such file or directory", "not found", "does not exist", "no such file", "ENOENT", "File does not exist")
_QUOTES = "\"'`<>()[]{},;"


class Run(Record):
    """How a command ended; ``edits`` counts the changes of files before it."""

    exit: int | None
    edits: int


class Facts:
    """What is known of a project's files and commands, from the results so far."""

    def __init__(self) -> None:
        self.folder = ""
        self.edits = 0
        self._there: dict[str, bool] = {}
        self._looked: set[str] = set()
        self._names: dict[str, set[str]] = {}
        self._runs: dict[str, Run] = {}
        self._programs: set[str] = set()

    def place(self, path: str, folder: str = "") -> str:
        """A path below the project's folder, or absolute if it is elsewhere or that is not known."""
        path = path.strip().removeprefix("file://").replace("\\", "/")
        joined = posixpath.normpath(posixpath.join(folder, path)) if path else ""
        root = self.folder.rstrip("/")
        if root and (joined == root or joined.startswith(root + "/")):
            return joined[len(root) + 1 :] or "."
        return joined

    def learn(self, call: Call) -> None:
        """Take what a call's result shows."""
        if call.was_denied or not call.was_known:
            return
        if "shell" in call.kinds:
            self._of_line(call)
            return
        paths = [self.place(path) for path in call.paths]
        self._looked.update(paths)
        if not call.ok:
            if any(text in call.output for text in _MISSING):
                self._note(paths, False)
        elif call.kinds & {"edit", "write"} or "read" in call.kinds:
            self._note(paths, True)
        elif call.kinds & {"search", "list"}:
            for path in self._leading(call.output, [*paths, ""]):
                self._note([path], True)

    def change(self, path: str, is_there: bool = True) -> None:
        """Take that a file was changed."""
        self.edits += 1
        self._note([self.place(path)], is_there)

    def is_there(self, path: str) -> bool | None:
        """True for a file that a result showed, False for one that was looked for and is not there, else None."""
        place = self.place(path)
        if place in self._there:
            return self._there[place]
        for known in sorted(self._names.get(posixpath.basename(place), ())):
            if known.endswith("/" + place) or (place.startswith("/") and place.endswith("/" + known)):
                return self._there[known]
        return None

    def was_looked_for(self, path: str) -> bool:
        """True if a call named the file, or showed it."""
        place = self.place(path)
        named = any(one == place or one.endswith("/" + place) for one in self._looked)
        return named or self.is_there(path) is not None

    def run_of(self, line: str) -> Run | None:
        """How the last run of a command ended; None if it did not run."""
        return self._runs.get(_plain(line))

    def has_run(self, program: str) -> bool:
        """True if a program of this name ran."""
        return program in self._programs

    def _note(self, paths: list[str], is_there: bool) -> None:
        for path in paths:
            self._there[path] = is_there
            self._names.setdefault(posixpath.basename(path), set()).add(path)

    def _of_line(self, call: Call) -> None:
        line = read(call.command)
        finals = last(line)
        whole = _plain(call.command)
        self._runs[whole] = Run(call.exit, self.edits)
        for command in line.commands:
            for words in command.programs:
                self._programs.add(name_of(words))
                text = _plain(" ".join(word if word is not None else "…" for word in words))
                if text != whole:
                    self._runs[text] = Run(_exit_of(command, finals, call.exit), self.edits)
        if not any(name_of(words) in _ECHOES for command in line.commands for words in command.programs):
            for command in line.commands:
                self._of_command(command, call, command in finals)

    def _of_command(self, command: Command, call: Call, is_final: bool) -> None:
        for words in command.programs:
            name = name_of(words)
            operands = [word for word in words[1:] if word and word[:1] != "-"][:_MOST]
            places = [self.place(word, command.folder or "") for word in operands]
            if name in _OPENERS and command.folder is not None:
                opened = places[1:] if name in GREPS or name == "sed" else places
                self._looked.update(opened)
                has_opened = call.exit == 0 or (call.exit == 1 and name in _COMPARERS)
                if has_opened and is_final and name not in ("[", "test"):
                    self._note([place for place in opened if posixpath.basename(place) not in ("", ".")], True)
                for place, word in zip(places, operands, strict=True):
                    if call.exit not in (0, None) and _is_missing(word, call.output):
                        self._note([place], False)
            if call.exit not in (0, None) and not (call.exit == 1 and name in ("diff", "git")):
                continue
            if name in _LISTERS or git_subcommand(words) in _OF_GIT:
                for token in self._tokens(call.output):
                    self._note([self.place(token, command.folder or "")], True)
                    if name == "ls":
                        self._note([posixpath.join(place, token) for place in places], True)
            elif name in GREPS or git_subcommand(words) == "grep":
                for path in self._leading(call.output, [command.folder or ""]):
                    self._note([path], True)

    def _leading(self, output: str, folders: list[str]) -> Iterator[str]:
        """The paths at the beginnings of lines, as tools that search print them."""
        for line in output[:_LONGEST].split("\n"):
            text = line.strip().removeprefix("File: ").removeprefix("- ")
            token = text.partition(":")[0].strip(_QUOTES)
            if token and " " not in token and ("/" in token or "." in token):
                for folder in dict.fromkeys(folders):
                    yield self.place(token, folder)

    def _tokens(self, output: str) -> Iterator[str]:
        """The words of an output that look like paths."""
        for word in output[:_LONGEST].split():
            text = word.strip(_QUOTES).rstrip(":")
            if text and text not in (".", "..") and not text.startswith("-"):
                yield text.removeprefix("a/").removeprefix("b/") if text[:2] in ("a/", "b/") else text


def _plain(line: str) -> str:
    """A line in one spelling."""
    return " ".join(line.split())


def _exit_of(command: Command, finals: list[Command], code: int | None) -> int | None:
    """The exit code of a command, from that of the line; None if it is not known."""
    if command not in finals:
        return None
    return code if len(finals) == 1 or code == 0 else None


def _is_missing(word: str, output: str) -> bool:
    return any(word in line and any(text in line for text in _MISSING) for line in output[:_LONGEST].split("\n"))
