"""Strict YAML: text, lists and mappings, and nothing that can explode, change type, or say a thing twice.

PyYAML's pure-Python parser gives events; values are built from these, so that no resolver, constructor or merge key
ever runs. The C parser is left alone: 30,000 brackets crash the process inside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

import yaml

from skills.lib.skillfile.source import SkillFileError, is_control

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DEPTH_LIMIT = 8

Node: TypeAlias = "str | list[Node] | dict[str, Node]"

_PLAIN = "write plain keys, text, lists and mappings"
_SECOND_TEXT = (
    "has more text after one in quotes or brackets",
    "put quotes of the other kind around the whole: '\"a\" in b'",
)
# What PyYAML says of common slips: what it is in other words, and what to do.
_SLIPS = {
    "mapping values are not allowed": (
        "has a ':' where no key can stand",
        "indent the line as those beside it, or put quotes around a text that has ': ' in it",
    ),
    "found character '\\t'": ("is indented by a tab", "indent by blanks"),
    "expected <block end>, but found '<scalar>'": _SECOND_TEXT,
    "expected ',' or '}', but got '<scalar>'": _SECOND_TEXT,
    "expected ',' or ']', but got '<scalar>'": _SECOND_TEXT,
    "expected <block end>": (
        "has a line that is indented otherwise than those beside it",
        "give what stands together the same number of blanks",
    ),
    "could not find expected ':'": (
        "has a line that is no `field: value`",
        "put a ':' and a blank after the key, or indent a text that goes on",
    ),
}


def parse_frontmatter(text: str, path: Path, first_line: int = 2) -> tuple[dict[str, Node], dict[str, int]]:
    """The fields of a frontmatter and the line of each; every scalar is text (``no`` stays ``"no"``).

    ``first_line`` is the number of the text's first line in its file. Raises SkillFileError, and nothing else, for
    whatever is not a mapping of at most 8 levels free of anchors, aliases, tags, merge keys and duplicate keys.
    """
    fields, lines = _parsed(text, _Builder(path, first_line))
    return fields, {name: line for (name, *below), line in lines.items() if not below}


class Plain(str):
    """A scalar that stands without quotes, and is not a block of text."""

    __slots__ = ()


def parse_yaml(
    text: str, path: Path, what: str, *, depth: int = DEPTH_LIMIT, plain: type[str] = str
) -> tuple[dict[str, Node], dict[tuple[str, ...], int]]:
    """The fields of a whole file and the line of each key and entry, by the keys that lead to it; all scalars are text.

    An entry of a list has its number as its key, from 0. ``what`` names the file's content in an error; ``plain`` is
    the class of scalars without quotes. Raises SkillFileError as ``parse_frontmatter`` does.
    """
    return _parsed(text, _Builder(path, 1, what, depth, plain))


def _parsed(text: str, builder: _Builder) -> tuple[dict[str, Node], dict[tuple[str, ...], int]]:
    try:
        return builder.document(yaml.parse(text, Loader=yaml.SafeLoader))
    except SkillFileError:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "is not YAML"
        said = next((words for begin, words in _SLIPS.items() if problem.startswith(begin)), (problem, _PLAIN))
        raise builder.error(said[0], mark, said[1]) from error
    except Exception as error:  # PyYAML leaks RecursionError, ValueError, OverflowError and more for odd input
        raise builder.error(f"is not YAML ({type(error).__name__})", None) from error


class _Mark(Protocol):
    """A place in the text, counted from 0."""

    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...


class _Builder:
    """Builds values from parser events, refusing on the way what strict YAML does not have."""

    def __init__(
        self, path: Path, first_line: int, what: str = "", depth: int = DEPTH_LIMIT, plain: type[str] = str
    ) -> None:
        self.path = path
        self.first_line = first_line
        self.what = what
        self.depth = depth
        self.plain = plain
        self.lines: dict[tuple[str, ...], int] = {}

    def error(self, cause: str, mark: _Mark | None, remedy: str = _PLAIN) -> SkillFileError:
        line = self.first_line + mark.line if mark else self.first_line
        column = mark.column + 1 if mark else 0
        what = self.what or "the frontmatter"
        return SkillFileError(self.path, f"{what} {cause}", line=line, column=column, remedy=remedy)

    def document(self, events: Iterator[yaml.Event]) -> tuple[dict[str, Node], dict[tuple[str, ...], int]]:
        next(events)  # the start of the stream
        opening = next(events)
        if isinstance(opening, yaml.StreamEndEvent):
            remedy = "write its fields" if self.what else "write name: and description:"
            raise self.error("is empty", None, remedy)
        first = next(events)
        if not isinstance(first, yaml.MappingStartEvent):
            raise self.error("is not a mapping of fields", first.start_mark, "write one `field: text` per line")
        fields = self.node(first, events, ())
        next(events)  # the end of the document
        after = next(events)
        if not isinstance(after, yaml.StreamEndEvent):
            between = "" if self.what else " between the --- lines"
            raise self.error("holds a second document", after.start_mark, f"keep one mapping{between}")
        return fields, self.lines  # type: ignore[return-value]  # the root is a mapping, checked above

    def node(self, event: yaml.Event, events: Iterator[yaml.Event], at: tuple[str, ...]) -> Node:
        """The value that begins with an event; ``at`` has the keys that lead to it."""
        self.refuse_magic(event)
        if isinstance(event, yaml.ScalarEvent):
            return self.text(event)
        if len(at) >= self.depth:
            raise self.error(f"is nested deeper than {self.depth} levels", event.start_mark)
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Node] = []
            while not isinstance(event := next(events), yaml.SequenceEndEvent):
                entry = (*at, str(len(items)))
                self.note(entry, event)
                items.append(self.node(event, events, entry))
            return items
        return self.mapping(events, at)

    def note(self, at: tuple[str, ...], event: yaml.Event) -> None:
        if event.start_mark:
            self.lines[at] = self.first_line + event.start_mark.line

    def mapping(self, events: Iterator[yaml.Event], at: tuple[str, ...]) -> dict[str, Node]:
        fields: dict[str, Node] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            self.refuse_magic(event)
            if not isinstance(event, yaml.ScalarEvent):
                raise self.error("has a key that is not text", event.start_mark)
            key = str(self.text(event))
            if key == "<<":
                raise self.error("has a merge key (<<)", event.start_mark, "write the fields out")
            if key in fields:
                raise self.error(f"has the key {key[:80]!r} twice", event.start_mark, "keep one of them")
            self.note((*at, key), event)
            fields[key] = self.node(next(events), events, (*at, key))
        return fields

    def refuse_magic(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.AliasEvent):
            raise self.error("has an alias (*)", event.start_mark, "write the value out")
        if getattr(event, "anchor", None) is not None:
            raise self.error("has an anchor (&)", event.start_mark, "write the value out")
        if getattr(event, "tag", None) is not None:
            raise self.error("has a tag (!)", event.start_mark, "leave it out: all values are text")

    def text(self, event: yaml.ScalarEvent) -> str:
        value: str = event.value
        bad = next((character for character in value if is_control(character)), None)
        if bad is not None:
            raise self.error(f"holds the control character U+{ord(bad):04X}", event.start_mark, "leave it out")
        return value if event.style else self.plain(value)
