"""The paths that the words of a command name, absolute, with links followed."""

import os
import stat

from skills.lib.guard.shell_parts import base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from skills.lib.guard.shell_parts import Word

_PATTERNS = "*?["
# How much of a program is read to tell what runs it.
_HEAD = 256


def paths_of(words: "Sequence[Word]", targets: "Sequence[Word]", folder: str) -> tuple[str | None, ...]:
    """The paths of operands, of options' values that look like one, and of redirections.

    None stands for what only the shell knows. Every operand counts as a path: a program may take it for one.
    """
    found: list[str | None] = []
    for word, is_operand in _named(words):
        found += _path(word, folder, is_operand)
    for word in targets:
        found += _path(word, folder, is_operand=True)
    return tuple(found)


def _named(words: "Sequence[Word]") -> "Iterator[tuple[Word, bool | None]]":
    """The words, or parts of words, that may be paths; True for an operand, None for one that rarely is a path."""
    has_options = True
    for word in words:
        text = word.text
        if has_options and text == "--" and word.known:
            has_options = False
        elif has_options and text[:1] == "-" and text != "-":
            name, equals, _ = word.head.partition("=")
            if equals:
                yield word.rest(len(name) + 1), False
            elif text[:2] != "--":
                # -o/etc/x, -Isub/x: the value begins somewhere after the letters
                slash = min((at for at in (text.find("/"), text.find("~"), text.find("..")) if at > 0), default=-1)
                yield word.rest(slash if slash > 0 else 2), False
        else:
            name, equals, _ = word.head.partition("=")
            if equals and "/" not in name and _looks_like_path(word.head[len(name) + 1 :]):
                yield word.rest(len(name) + 1), False
                yield word, None
            else:
                yield word, True


def _looks_like_path(text: str) -> bool:
    return "/" in text or text[:1] == "~" or text in (".", "..")


def _path(word: "Word", folder: str, is_operand: bool | None) -> list[str | None]:
    text = word.text
    if not word.known:
        return [None]
    if is_operand is None:
        return _as_written(word, folder)
    if not text or (not is_operand and not _looks_like_path(text)):
        return []
    is_url = "://" in text
    found = _as_written(word, folder) if is_url else []
    if is_url and not text.startswith("file://"):
        return found
    text = text.removeprefix("file://")
    if word.tilde:
        if text != "~" and text[:2] != "~/":
            return [None]
        text = os.path.expanduser(text)
    if not folder and not os.path.isabs(text):
        return [None]
    return [*found, _pattern(text, folder) if word.glob else os.path.realpath(os.path.join(folder, text))]


def _as_written(word: "Word", folder: str) -> list[str | None]:
    """The path that a word with ``=`` or ``://`` is if something in the folder has the name that it begins with."""
    if not folder or not os.path.lexists(os.path.join(folder, word.text.partition("/")[0])):
        return []
    return [_pattern(word.text, folder) if word.glob else os.path.realpath(os.path.join(folder, word.text))]


def _pattern(text: str, folder: str) -> str | None:
    """The path of a pattern with its last part as it was typed; None if it may lead through a link, or upwards."""
    first = min(text.find(sign) for sign in _PATTERNS if sign in text)
    above, slash, below = text[:first].rpartition("/")
    below += text[first:]
    if "/" in below or below[:1] == ".":
        return None
    return os.path.join(os.path.realpath(os.path.join(folder, above + slash)), below)


def is_shell_script(path: str) -> bool:
    """True if a shell runs a file: its first line says so, or it is a text without such a line."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            head = os.read(file, _HEAD)
        finally:
            os.close(file)
    except (OSError, ValueError):
        return False
    if head[:2] != b"#!":
        return bool(head) and b"\0" not in head
    from skills.lib.guard.shell_programs import SHELLS

    words = head[2:].partition(b"\n")[0].decode("utf-8", "replace").split()
    names = [base(word) for word in words if word[:1] != "-"]
    return bool(names) and (names[0] in SHELLS or (names[0] == "env" and names[1:2] != [] and names[1] in SHELLS))
