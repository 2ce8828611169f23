"""The tree of a ``workflow.yaml`` with the line of every entry, and all that is wrong with it in one list.

YAML is read by the strict reader of SKILL.md: every scalar is text here, and becomes a number or true only where the
format has one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from skills.lib.errors import SkillError, did_you_mean, nearest
from skills.lib.field_checks import shown
from skills.lib.skillfile import source
from skills.lib.skillfile.frontmatter import Plain, parse_yaml

T = TypeVar("T")
At = tuple[str, ...]

LIMIT = 64_000
DEPTH = 16
# Words that other YAML readers take for true and false; here they are texts.
_YES_AND_NO = {"yes": "true", "on": "true", "no": "false", "off": "false", "y": "true", "n": "false"}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a file: where, what, what is valid, what to try."""

    file: str
    line: int
    what: str
    valid: str = ""
    remedy: str = ""


class GraphFileError(SkillError):
    """A ``workflow.yaml`` cannot be compiled; ``problems`` holds every one that was found, by line."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems), key=lambda problem: (problem.file, problem.line, problem.what)))
        lines = [_line(problem) for problem in self.problems]
        only = self.problems[0]
        one = len(self.problems) == 1
        what = "\n".join(lines) if not one else f"{os.path.relpath(only.file)}:{only.line}: {only.what}"
        super().__init__(what, valid=only.valid if one else "", remedy=only.remedy if one else "")


def _line(problem: Problem) -> str:
    more = [f"valid: {problem.valid}"] if problem.valid else []
    more += [f"try: {problem.remedy}"] if problem.remedy else []
    end = f" ({'; '.join(more)})" if more else ""
    return f"{os.path.relpath(problem.file)}:{problem.line}: {problem.what}{end}"


class Missing(Exception):
    """A value that is not there or is wrong; the problem is noted, and the reader goes on elsewhere."""


class Reader:
    """Gives values of the tree as the format has them; what is wrong is noted in ``problems``."""

    def __init__(self, file: str, fields: Mapping[str, Any], lines: Mapping[At, int]) -> None:
        self.file = file
        self.fields = fields
        self._lines = lines
        self.problems: list[Problem] = []

    def __contains__(self, at: object) -> bool:
        return at in self._lines

    def line(self, at: At) -> int:
        """The line of an entry, or of the nearest one around it."""
        while at and at not in self._lines:
            at = at[:-1]
        return self._lines.get(at, 1)

    def note(self, at: At, what: str, valid: str = "", remedy: str = "") -> None:
        """Note a problem at an entry."""
        self.problems.append(Problem(self.file, self.line(at), what, valid, remedy))

    def fail(self, at: At, what: str, valid: str = "", remedy: str = "") -> NoReturn:
        """Note a problem, and leave the value out."""
        self.note(at, what, valid, remedy)
        raise Missing

    def done(self) -> None:
        """Raise GraphFileError if a problem was noted."""
        if self.problems:
            raise GraphFileError(self.problems)

    def made(self, at: At, make: Callable[..., T], *given: Any, **named: Any) -> T:
        """What ``make`` returns; an error of its own becomes a problem at the entry."""
        try:
            return make(*given, **named)
        except (TypeError, ValueError) as error:
            # Such as "step 'boil' at_limit: …": the line of that key, if it has one.
            of = next((word.rstrip(":") for word in str(error).split(" ")[1:4] if (*at, word.rstrip(":")) in self), "")
            self.fail((*at, of) if of else at, str(error))
        except SkillError as error:
            self.fail(at, error.what, error.valid, error.remedy)

    def known(self, value: Any, at: At, keys: Collection[str], what: str) -> dict[str, Any]:
        """The entries of a mapping that has some of these keys; another key is noted, with the nearest."""
        found = self.mapping(value, at, what)
        for key in found:
            if key not in keys:
                near = nearest(key, list(keys))
                remedy = "in { } and [ ] a text with a comma stands in quotes" if " " in key else ""
                self.note((*at, key), f"{what} has no {key[:60]!r}{did_you_mean(near)}", ", ".join(keys), remedy)
        return {key: entry for key, entry in found.items() if key in keys}

    def mapping(self, value: Any, at: At, what: str) -> dict[str, Any]:
        """The entries of a mapping."""
        if not isinstance(value, dict):
            self.fail(at, f"{what} is a mapping, not {_kind(value)}", remedy="write `name: value` lines below it")
        return value

    def items(self, value: Any, at: At, what: str) -> list[tuple[At, Any]]:
        """The entries of a list, each with its place; a single text is a list of one."""
        if isinstance(value, str):
            return [(at, value)] if value else []
        if not isinstance(value, list):
            self.fail(at, f"{what} is a list, not {_kind(value)}", remedy="write `- entry` lines below it, or [a, b]")
        return [((*at, str(number)), entry) for number, entry in enumerate(value)]

    def text(self, value: Any, at: At, what: str) -> str:
        """A text."""
        if not isinstance(value, str):
            self.fail(at, f"{what} is a text, not {_kind(value)}", remedy="put a text with [ ] { } : # in quotes")
        return str(value)

    def texts(self, value: Any, at: At, what: str) -> list[str]:
        """A list of texts; a single text is a list of one."""
        return [self.text(entry, place, f"an entry of {what}") for place, entry in self.items(value, at, what)]

    def word(self, value: Any, at: At, words: Collection[str], what: str) -> str:
        """One of some words."""
        text = self.text(value, at, what)
        if text not in words:
            near = nearest(text, list(words))
            self.fail(at, f"{what} {text[:60]!r} is none{did_you_mean(near)}", ", ".join(words))
        return text

    def switch(self, value: Any, at: At, what: str) -> bool:
        """True or false."""
        text = self.text(value, at, what)
        if text not in ("true", "false"):
            instead = _YES_AND_NO.get(text.lower(), text.lower())
            remedy = f"write {instead}" if instead in ("true", "false") else ""
            self.fail(at, f"{what} is true or false, not {text[:40]!r}", "true, false", remedy)
        return text == "true"

    def number(self, value: Any, at: At, what: str, whole: bool = False) -> int | float:
        """A number, which stands without quotes."""
        found = plain(value)
        if isinstance(found, bool) or not isinstance(found, int if whole else (int, float)):
            kind = "a whole number" if whole else "a number"
            self.fail(at, f"{what} is {kind}, not {shown(value) if isinstance(value, str) else _kind(value)}")
        return found


def plain(value: Any) -> Any:
    """A value of the author's own, such as a default: numbers, true, false and null if they stand without quotes."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [plain(entry) for entry in value]
    if not isinstance(value, Plain):
        return str(value)
    if value in ("true", "false"):
        return value == "true"
    if value in ("null", "~", ""):
        return None
    digits = value.removeprefix("-")
    if len(value) > 30 or not digits.isascii() or (digits[:1] == "0" and digits[1:2].isdigit()):
        return str(value)
    if digits.isdigit():
        return int(value)
    before, dot, after = digits.partition(".")
    return float(value) if dot and before.isdigit() and after.isdigit() else str(value)


def _kind(value: Any) -> str:
    return (
        "a mapping" if isinstance(value, dict) else "a list" if isinstance(value, list) else f"the text {value!r:.60}"
    )


def read(file: str) -> Reader:
    """The reader of a file. Raises GraphFileError, with file and line, for what is not strict YAML."""
    path = Path(file)
    try:
        text = source.decode(path, source.read_bytes(path, LIMIT))
        fields, lines = parse_yaml(text, path, "the file", depth=DEPTH, plain=Plain)
    except source.SkillFileError as error:
        remedy = "keep long texts in workflow.md beside it" if "larger than" in error.cause else error.remedy
        raise GraphFileError([Problem(file, error.line or 1, error.cause, "", remedy)]) from error
    return Reader(file, fields, lines)
