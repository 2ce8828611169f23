"""Reads the line of a ``shell`` call: one simple command, or several that are joined by pipes. No shell reads it."""

from __future__ import annotations

import glob
import os

from skills.lib.errors import UsageError
from skills.lib.guard.shell_parts import Word
from skills.lib.guard.shell_syntax import Raw, Reader
from skills.lib.guard.shell_word import Unclear
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

VALID = "one simple command, or several joined by |"
# How a file is opened that a redirection names, or that a descriptor is the same as another.
READ, WRITE, APPEND, SAME = "read", "write", "append", "same"
_OPERATORS = {"<": (0, READ), ">": (1, WRITE), ">|": (1, WRITE), ">>": (1, APPEND), ">&": (1, SAME)}
_BOTH = {"&>": WRITE, "&>>": APPEND}
# How many words patterns may stand for.
_MOST = 10_000
_JOINED = {
    "&&": "call shell once for each command, and look at the first one's exit code",
    "||": "call shell once for each command, and look at the first one's exit code",
    ";": "call shell once for each command",
    "&": "run it without &: a command ends before the call returns",
}
# What only a shell does, and what to do instead.
BUILTINS = {
    "cd": "commands run in the project's folder: name paths from there, or use an option such as git -C or make -C",
    "export": "set a variable for one command: env NAME=value PROGRAM",
    "set": "no option of a shell holds here",
    "source": "call the programs of a virtual environment by their paths, such as .venv/bin/python",
    ".": "call the programs of a virtual environment by their paths, such as .venv/bin/python",
    "alias": "call the program itself",
    "eval": "call the program itself",
    "exec": "call the program itself",
    "type": "which PROGRAM says where a program is",
    "command": "which PROGRAM says where a program is",
    "ulimit": "the call has limits of its own",
    "wait": "a command ends before the call returns",
}


class Redirection(Record):
    """A descriptor of a command that leads to a file, as it was written, or to another descriptor (SAME)."""

    descriptor: int
    kind: str
    target: str


class Part(Record):
    """One program of a line with its words and redirections."""

    argv: Sequence[str]
    redirections: Sequence[Redirection]

    @property
    def writes(self) -> bool:
        """True if a redirection writes a file; the null device is none."""
        return any(one.kind in (WRITE, APPEND) and one.target != os.devnull for one in self.redirections)


def read_line(line: str, folder: str) -> list[Part]:
    """The programs of a line, joined by pipes; patterns such as ``*.py`` stand for files below the folder.

    Raises UsageError for what only a shell could run, and says what to do instead.
    """
    reader: Reader | None = None
    try:
        reader = Reader(line)
        reader.read()
    except Unclear as unclear:
        raise UsageError(f"the command cannot be read: {unclear}", valid=VALID) from None
    raws = [item for item in reader.items if isinstance(item, Raw)]
    if len(raws) < len(reader.items) or reader.structured:
        raise _no_shell("a substitution, a group, a loop or a condition", "call shell once for each command")
    for raw in raws[1:]:
        if raw.before != "|":
            raise _no_shell(f"commands that are joined by {raw.before}", _JOINED.get(raw.before, ""))
    if not raws or raws[0].before not in ("", ";"):
        raise UsageError(
            "the command is empty" if not raws else f"no command stands before {raws[0].before}", valid=VALID
        )
    if raws[-1].after not in ("", ";", "\n"):
        raise _no_shell(f"a command that ends with {raws[-1].after}", _JOINED.get(raws[-1].after, ""))
    return [_part(raw, folder, line.strip() if len(raws) == 1 else "NAME=value PROGRAM") for raw in raws]


def _part(raw: Raw, folder: str, whole: str) -> Part:
    if raw.sets:
        raise _no_shell(f"a variable that is set before a command ({raw.sets[0][0]}=…)", f"`env {whole}`")
    if raw.is_negated or raw.closed:
        raise _no_shell("a reserved word", "look at the exit code of the command")
    if not raw.words:
        raise UsageError("a redirection stands without a command", valid=VALID)
    argv = [text for word in raw.words for text in _texts(word, folder)]
    if len(argv) > _MOST:
        raise UsageError(f"the command has more than {_MOST:,} words", remedy="name a folder, or use find -exec")
    return Part(argv, list(_redirections(raw)))


def _texts(word: Word, folder: str) -> Sequence[str]:
    """The text of a word, or the files that it stands for."""
    _require_written(word)
    if not word.glob:
        return [word.text]
    if word.quoted:
        raise _no_shell(f"a pattern that is partly quoted: {word.text}", "quote the whole word, or nothing of it")
    found = sorted(glob.glob(word.text, root_dir=folder))
    if not found:
        raise UsageError(
            f"no file matches {word.text!r:.200}", remedy="quote it if the program is to get it as it stands"
        )
    # A name that begins with a dash would be an option.
    return [f"./{name}" if name.startswith("-") else name for name in found]


def _redirections(raw: Raw) -> Iterator[Redirection]:
    for (operator, word), number in zip(raw.redirections, raw.descriptors, strict=True):
        _require_written(word)
        if word.glob:
            raise _no_shell(f"a pattern after {operator}", "name one file")
        if operator in _BOTH and not number:
            yield Redirection(1, _BOTH[operator], word.text)
            yield Redirection(2, SAME, "1")
            continue
        descriptor, kind = _OPERATORS.get(operator, (0, ""))
        if not kind:
            raise _no_shell(f"the redirection {operator}", "put the text into a file by write, and read it with <")
        at = int(number) if number else descriptor
        if at > 2 or (kind == SAME and word.text not in ("1", "2")):
            raise _no_shell(f"the redirection {number}{operator}{word.text}", "redirect 0, 1 or 2")
        yield Redirection(at, kind, word.text)


def _require_written(word: Word) -> None:
    if not word.known or not word.single:
        near = word.head or word.tail
        raise _no_shell(
            f"a word that only a shell knows{f' ({near[:80]!r} …)' if near else ''}",
            "write it out; quote it in single quotes if $, ` or braces are meant as they stand",
        )
    if word.tilde:
        raise _no_shell(f"a home folder ({word.text[:80]})", "write the path out, or quote the word")


def _no_shell(what: str, remedy: str) -> UsageError:
    return UsageError(f"no shell runs this command, so it has no meaning here: {what}", valid=VALID, remedy=remedy)
