"""Which files a line of a shell writes, as far as the line says it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from skills.lib.layers.replaying.lines import git_subcommand, name_of, read

# Programs all of whose operands are files that they change; and those that write to the last.
_ALL = frozenset("rm unlink touch truncate tee shred mv".split())
_LAST = frozenset("cp ln install".split())
_EDITORS = frozenset("sed gsed perl".split())
# Where a redirection leads that writes no file.
_NO_FILES = frozenset(("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"))
# Options of programs whose next word is no file.
_VALUED = frozenset(("-t", "-m", "-o", "-g", "-s", "--size", "--mode", "--target-directory", "-r", "-d"))


def written(line: str, has_succeeded: bool) -> list[str]:
    """The files that a line writes, moves or removes; of one that failed, those of its redirections alone."""
    found: list[str] = []
    for command in read(line).commands:
        if command.folder is None:
            continue
        paths = [path for path in command.writes if path not in _NO_FILES]
        if has_succeeded and command.programs:
            paths += _operands(command.programs[-1])
        found += [posixpath.join(command.folder, path) for path in paths]
    return list(dict.fromkeys(found))


def _operands(words: tuple[str | None, ...]) -> Iterator[str]:
    name = name_of(words)
    rest = words[1:]
    if git_subcommand(words) in ("rm", "mv"):
        name, rest = git_subcommand(words), words[words.index(git_subcommand(words)) + 1 :]
    options = [word for word in rest if word and word[:1] == "-" and word != "-"]
    operands = [
        word
        for before, word in zip((None, *rest), rest, strict=False)
        if word and word not in options and not (before in _VALUED and name not in ("rm", "mv", "tee", "cp"))
    ]
    if name in _ALL:
        yield from _moved(operands) if name == "mv" else operands
    elif name in _LAST and len(operands) > 1:
        yield _into(operands[-1], operands[0])
    elif name in _EDITORS and any(_is_in_place(word) for word in options):
        has_script = any(word[:2] in ("-e", "-f") or (name == "perl" and word[-1:] == "e") for word in options)
        yield from operands[1:]
        if name != "perl" and has_script and operands:
            yield operands[0]
    elif name == "dd":
        yield from [word[3:] for word in operands if word.startswith("of=")]


def _is_in_place(word: str) -> bool:
    return word.startswith("--in-place") or (word[:2] != "--" and "i" in word)


def _moved(operands: list[str]) -> list[str]:
    """The files that are gone after a move, and where they are."""
    if len(operands) < 2:
        return []
    return [*operands[:-1], *[_into(operands[-1], one) for one in operands[:-1]]]


def _into(target: str, source: str) -> str:
    """Where a file comes to be: in a folder that is written with a slash, or at the target."""
    return target + posixpath.basename(source.rstrip("/")) if target[-1:] == "/" else target
