"""The patterns of covered files: globs, matched in time linear in the path, and plain names of files and folders.

``**`` crosses folders; ``*``, ``?`` and ``[ab]`` do not.
"""

from __future__ import annotations

import os
import re

from skills.lib.errors import UsageError
from skills.lib.paths import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# A glob with more wildcards is not given to re, which would try every way of dividing the path among them.
FEW = 2
_CACHED = 50_000
_CHOICE = re.compile(r"\{([^{}]*,[^{}]*)\}")
# How many patterns one with {a,b} may stand for.
_MOST_CHOICES = 1_000
_WILDCARD = re.compile(r"\*\*/|\*\*|\*")
# What a token of a glob takes: one character; any number without a slash; any number; or it passes two tokens over.
_ONE, _MANY, _ALL, _SKIP = "one", "many", "all", "skip"


class Patterns:
    """The paths that patterns cover; a pattern that is the path of something in the project is no glob."""

    def __init__(self, project: str, covers: Sequence[str]) -> None:
        patterns = []
        self._globs: list[Glob] = []
        for text in covers:
            path = plain(text)
            hidden = "" if path.startswith(FOLDER) else rf"(?!{re.escape(FOLDER)}/)"
            named = "" if path == "." else re.escape(path) + r"(?:/.*)?"
            globs = [] if os.path.lexists(os.path.join(project, path)) else _choices(path)
            simple = [expression(glob) for glob in globs if is_simple(glob)]
            patterns.append(f"{hidden}(?:{'|'.join([named or '.*', *simple])})")
            self._globs += [Glob(glob) for glob in globs if not is_simple(glob)]
        self._pattern = re.compile("|".join(patterns) or r"(?!)", re.DOTALL)
        # True if a pattern covers the path.
        self.fullmatch: Callable[[str], object] = self._fullmatch if self._globs else self._pattern.fullmatch

    def _fullmatch(self, path: str) -> bool:
        if self._pattern.fullmatch(path):
            return True
        return not path.startswith(FOLDER + "/") and any(glob.fullmatch(path) for glob in self._globs)


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
    """A compiled glob, which follows all ways of matching at once."""

    def __init__(self, glob: str) -> None:
        self._tokens = [(kind, re.compile(one, re.DOTALL)) for kind, one in _tokens(glob)]
        self._begin = self._closed([0])
        self._known: dict[tuple[frozenset[int], str], frozenset[int]] = {}

    def fullmatch(self, path: str) -> bool:
        """True if the whole path matches."""
        states = self._begin
        for char in path:
            after = self._known.get((states, char))
            if after is None:
                if len(self._known) > _CACHED:
                    self._known.clear()
                after = self._known[states, char] = self._after(states, char)
            states = after
            if not states:
                return False
        return len(self._tokens) in states

    def _after(self, states: Iterable[int], char: str) -> frozenset[int]:
        found = []
        for at in states:
            kind, one = self._tokens[at] if at < len(self._tokens) else ("", None)
            if kind == _ALL or (kind == _MANY and char != "/"):
                found.append(at)
            elif kind == _ONE and one is not None and one.fullmatch(char):
                found.append(at + 1)
        return self._closed(found)

    def _closed(self, states: list[int]) -> frozenset[int]:
        """The states with those that are reached from them without a character."""
        found, left = set(states), list(states)
        while left:
            at = left.pop()
            kind = self._tokens[at][0] if at < len(self._tokens) else ""
            onward = {_MANY: [at + 1], _ALL: [at + 1], _SKIP: [at + 1, at + 3]}.get(kind, [])
            new = [state for state in onward if state not in found]
            found.update(new)
            left += new
        return frozenset(found)


def _tokens(glob: str) -> list[tuple[str, str]]:
    """The tokens of a glob: their kinds, and what each single character must be."""
    found: list[tuple[str, str]] = []
    at = 0
    while at < len(glob):
        end = glob.find("]", at + 2) if glob[at] == "[" else -1
        if glob.startswith("**/", at):
            found += [(_SKIP, ""), (_ALL, ""), (_ONE, "/")]
            at += 3
        elif glob.startswith("**", at):
            found.append((_ALL, ""))
            at += 2
        elif end > 0:
            found += _class(glob[at + 1 : end])
            at = end + 1
        else:
            char = glob[at]
            found.append((_MANY, "") if char == "*" else (_ONE, "[^/]" if char == "?" else re.escape(char)))
            at += 1
    return found


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
