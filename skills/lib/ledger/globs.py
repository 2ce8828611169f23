"""The patterns of covered files: globs, matched in time linear in the path, and plain names of files and folders.

``**`` crosses folders; ``*``, ``?`` and ``[ab]`` do not.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache

from skills.lib.errors import UsageError
from skills.lib.paths import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# A glob with more wildcards is not given to re, which would try every way of dividing the path among them.
FEW = 2
_CACHED = 50_000
_CHOICE = re.compile(r"\{([^{}]*,[^{}]*)\}")
# How many patterns one with {a,b} may stand for.
_MOST_CHOICES = 1_000
_WILDCARD = re.compile(r"\*\*/|\*\*|\*")
_PART = re.compile(r"\*\*/|\*\*|\[.[^\]]*\]|.", re.DOTALL)
_PART_BUT_CLASS = re.compile(r"\*\*/|\*\*|.", re.DOTALL)
# What a token of a glob takes: one character; any number without a slash; any number; or it passes two tokens over.
_ONE, _MANY, _ALL, _SKIP = "one", "many", "all", "skip"
# How many tokens further a match may go on without a character.
_PASSED = {_ONE: (), _MANY: (1,), _ALL: (1,), _SKIP: (1, 3)}
_WILDCARDS = {
    "**/": [(_SKIP, ""), (_ALL, ""), (_ONE, "/")],
    "**": [(_ALL, "")],
    "*": [(_MANY, "")],
    "?": [(_ONE, "[^/]")],
}


def matcher(project: str, covers: Sequence[str]) -> Callable[[str], object]:
    """Return a function that is true for each path that the patterns cover.

    A pattern that is the path of something in the project is no glob. Raises UsageError for one with too many choices.
    """
    patterns = []
    costly: list[Glob] = []
    for text in covers:
        path = plain(text)
        hidden = "" if path.startswith(FOLDER) else rf"(?!{re.escape(FOLDER)}/)"
        named = "" if path == "." else re.escape(path) + r"(?:/.*)?"
        globs = [] if os.path.lexists(os.path.join(project, path)) else _choices(path)
        simple = [expression(glob) for glob in globs if is_simple(glob)]
        patterns.append(f"{hidden}(?:{'|'.join([named or '.*', *simple])})")
        costly += [Glob(glob) for glob in globs if not is_simple(glob)]
    pattern = re.compile("|".join(patterns) or r"(?!)", re.DOTALL)
    if not costly:
        return pattern.fullmatch

    def is_covered(path: str) -> bool:
        if pattern.fullmatch(path):
            return True
        return not path.startswith(FOLDER + "/") and any(glob.fullmatch(path) for glob in costly)

    return is_covered


def _choices(path: str) -> list[str]:
    """The patterns that a pattern with {a,b} stands for."""
    found: list[str] = []
    left = [path]
    while left:
        one = left.pop()
        choice = _CHOICE.search(one)
        if choice is None:
            found.append(one)
        else:
            left += [one[: choice.start()] + way + one[choice.end() :] for way in choice[1].split(",")]
        if len(found) + len(left) > _MOST_CHOICES:
            what = f"the pattern {path[:80]!r} stands for more than {_MOST_CHOICES:,} patterns"
            raise UsageError(what, remedy="cover a folder as a whole")
    return found


def plain(text: str) -> str:
    """The path that a pattern is if it is no glob, with slashes."""
    return os.path.normpath(text.strip() or ".").replace(os.sep, "/")


def is_simple(glob: str) -> bool:
    """True if a regular expression for the glob cannot take long."""
    return len(_WILDCARD.findall(glob)) <= FEW


def expression(glob: str) -> str:
    """The glob as a regular expression, to be used with ``re.DOTALL``."""
    kinds = {_MANY: "[^/]*", _ALL: ".*"}
    text = "".join([kinds.get(kind, one) if kind != _SKIP else "\0" for kind, one in _tokens(glob)])
    return text.replace("\0.*/", "(?:.*/)?")


class Glob:
    """A compiled glob, which follows all ways of matching at once: a state is the number of the token that is next."""

    def __init__(self, glob: str) -> None:
        self._tokens = [(kind, re.compile(one, re.DOTALL)) for kind, one in _tokens(glob)]
        self._after = lru_cache(_CACHED)(self._step)

    def fullmatch(self, path: str) -> bool:
        """True if the whole path matches."""
        states = self._passed([0])
        for char in path:
            states = self._after(states, char)
        return len(self._tokens) in states

    def _step(self, states: frozenset[int], char: str) -> frozenset[int]:
        """The states after the character."""
        found = []
        for at in states - {len(self._tokens)}:
            kind, one = self._tokens[at]
            if kind == _ALL or (kind == _MANY and char != "/"):
                found.append(at)
            elif kind == _ONE and one.fullmatch(char):
                found.append(at + 1)
        return self._passed(found)

    def _passed(self, states: list[int]) -> frozenset[int]:
        """The states with those that are reached from them without a character."""
        found: set[int] = set()
        while states:
            at = states.pop()
            if at not in found:
                found.add(at)
                kind = self._tokens[at][0] if at < len(self._tokens) else _ONE
                states += [at + over for over in _PASSED[kind]]
        return frozenset(found)


def _tokens(glob: str) -> Iterator[tuple[str, str]]:
    """The tokens of a glob: their kinds, and what each single character must be."""
    head, close, tail = glob.rpartition("]")  # behind it no class is looked for: each search would read to the end
    for part in _PART.findall(head + close) + _PART_BUT_CLASS.findall(tail):
        if part[0] == "[" and len(part) > 1:
            yield from _class(part[1:-1])
        else:
            yield from _WILDCARDS.get(part) or [(_ONE, re.escape(part))]


def _class(chars: str) -> list[tuple[str, str]]:
    """The characters between brackets as one token; as they are if they make no class."""
    negated = chars[:1] in ("!", "^") and len(chars) > 1
    inside = re.sub(r"[\\\[\]^&~|]", r"\\\g<0>", chars[negated:])
    found = f"(?!/)[{'^' if negated else ''}{inside}]"
    try:
        re.compile(found)
    except re.error:
        return [(_ONE, re.escape(char)) for char in f"[{chars}]"]
    return [(_ONE, found)]
