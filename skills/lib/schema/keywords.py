"""The keywords of the subset, what each takes, and the problems of a schema."""

from __future__ import annotations

from skills.lib.errors import nearest
from skills.lib.schema.patterns import Pattern, PatternError
from skills.lib.schema.report import Problem, pointer, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from skills.lib.schema.report import Path

TYPES = ("string", "integer", "number", "boolean", "null", "array", "object")
# Keywords for readers: they check nothing. A schema is read as draft 2020-12, whatever $schema says.
ANNOTATIONS = frozenset(
    "$schema $id $comment title description default examples deprecated readOnly writeOnly format"
    " contentEncoding contentMediaType".split()
)
# Keywords that hold one schema, a list of schemas, or schemas by name; and those that check the value in place.
ONE = frozenset("additionalProperties items contains propertyNames not if then else".split())
SEVERAL = frozenset("anyOf oneOf allOf prefixItems".split())
NAMED = frozenset("properties patternProperties $defs definitions".split())
IN_PLACE = frozenset("anyOf oneOf allOf not if then else".split())
# How deep schemas may be nested (names and keywords of a path).
DEPTH_LIMIT = 100
# The supported keyword nearest in meaning to one that is not supported.
_INSTEAD = {
    "unevaluatedProperties": "additionalProperties",
    "unevaluatedItems": "items",
    "additionalItems": "items",
    "dependencies": "dependentRequired",
    "dependentSchemas": "if",
    "$dynamicRef": "$ref",
    "$recursiveRef": "$ref",
    "$dynamicAnchor": "$defs",
    "$anchor": "$defs",
    "$vocabulary": "$comment",
    "contentSchema": "$comment",
    "divisibleBy": "multipleOf",
    "extends": "allOf",
    "disallow": "not",
    "nullable": "type",
    "id": "$id",
}


def problems(schema: object) -> list[Problem]:
    """Every problem of a schema; empty if values can be checked against it."""
    reader = _Reader(schema)
    reader.read(schema, ())
    if not reader.found:
        reader.check_circles()
    return reader.found


def resolved(root: object, reference: str) -> tuple[Path, object]:
    """The path and the content that a local reference names. Raises ValueError if it names nothing."""
    if reference != "#" and not reference.startswith("#/"):
        raise ValueError(f"{shown(reference)} is no reference into the same schema")
    path: Path = ()
    place = root
    parts = reference.split("/")[1:]
    if "%" in reference:
        from urllib.parse import unquote  # few references need it

        parts = unquote(reference).split("/")[1:]
    for part in parts:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(place, dict) and name in place:
            place, path = place[name], (*path, name)
        elif isinstance(place, (list, tuple)) and name.isascii() and name.isdigit() and int(name[:9]) < len(place):
            place, path = place[int(name[:9])], (*path, int(name[:9]))
        else:
            raise ValueError(f"{shown(reference)} leads nowhere: there is no {shown(name)} in {pointer(path)}")
    return path, place


class _Reader:
    """Reads a whole schema once; ``found`` has its problems."""

    def __init__(self, root: object) -> None:
        self.root = root
        self.found: list[Problem] = []
        self._schemas: dict[Path, object] = {}
        # The schemas that check the same value, by the schema that refers to them.
        self._onward: dict[Path, list[Path]] = {}
        self._references: list[tuple[Path, Path]] = []

    def read(self, schema: object, path: Path) -> None:
        self._schemas[path] = schema
        if isinstance(schema, bool):
            return
        if not isinstance(schema, dict):
            self._add(path, "", f"{shown(schema)} is no schema", "write an object with keywords, true or false")
            return
        if len(path) > DEPTH_LIMIT:
            self._add(path, "", f"schemas stand more than {DEPTH_LIMIT} deep in each other", "name parts in $defs")
            return
        for keyword, value in schema.items():
            self._keyword(keyword, value, path)

    def _keyword(self, keyword: object, value: object, path: Path) -> None:
        if not isinstance(keyword, str):
            self._add(path, str(keyword), f"the name {shown(keyword)} is no text", "write a keyword of JSON Schema")
            return
        at = (*path, keyword)
        if keyword in ANNOTATIONS:
            if keyword == "$id" and path:
                self._add(at, keyword, "$id inside of a schema is not supported", "name the part in $defs")
        elif keyword in ONE:
            self._read_inside(keyword, value, path, at)
        elif keyword in SEVERAL:
            if isinstance(value, (list, tuple)) and value:
                for number, one in enumerate(value):
                    self._read_inside(keyword, one, path, (*at, number))
            else:
                self._add(at, keyword, f"{shown(value)} is no list of schemas", "write a list with one or more")
        elif keyword in NAMED:
            self._read_named(keyword, value, at)
        elif keyword == "$ref":
            self._read_reference(value, path, at)
        elif keyword in _PLAIN:
            takes, is_right = _PLAIN[keyword]
            if not is_right(value):
                self._add(at, keyword, f"{keyword} is {shown(value)}", f"{keyword} takes {takes}")
            elif keyword == "pattern":
                self._check_pattern(str(value), keyword, at)
        else:
            self._add(at, keyword, f"the keyword {keyword!r:.80} is not supported", _instead(keyword))

    def _read_inside(self, keyword: str, value: object, path: Path, at: Path) -> None:
        if keyword in IN_PLACE:
            self._onward.setdefault(path, []).append(at)
        self.read(value, at)

    def _read_named(self, keyword: str, value: object, at: Path) -> None:
        if not isinstance(value, dict):
            self._add(at, keyword, f"{keyword} is {shown(value)}", f"{keyword} takes an object of schemas by name")
            return
        for name, one in value.items():
            if not isinstance(name, str):
                self._add(at, keyword, f"the name {shown(name)} is no text", "write a text")
                continue
            if keyword == "patternProperties":
                self._check_pattern(name, keyword, (*at, name))
            self.read(one, (*at, name))

    def _read_reference(self, value: object, path: Path, at: Path) -> None:
        try:
            if not isinstance(value, str):
                raise ValueError(f"{shown(value)} is no reference")
            target, _ = resolved(self.root, value)
        except ValueError as error:
            self._add(at, "$ref", str(error), "put the part into $defs, and write #/$defs/NAME")
            return
        self._onward.setdefault(path, []).append(target)
        self._references.append((at, target))

    def _check_pattern(self, text: str, keyword: str, at: Path) -> None:
        try:
            Pattern(text)
        except PatternError as error:
            self._add(at, keyword, f"the pattern {shown(text)} cannot be used: {error}", "see docs/schemas.md")

    def check_circles(self) -> None:
        """Report references that lead to no schema, or back to their own schema for the same value."""
        for at, target in self._references:
            if target not in self._schemas:
                what = f"$ref leads to {pointer(target)}, which is no schema"
                self._add(at, "$ref", what, "put the part into $defs, and write #/$defs/NAME")
        circle = self._circle()
        if circle:
            what = f"the same value is sent round in a circle: {' -> '.join(map(pointer, circle))}"
            self._add(circle[0], "$ref", what, "go into the value on the way: by properties or items")

    def _circle(self) -> list[Path]:
        """The schemas of a circle of references that check the same value; empty if there is none."""
        finished: set[Path] = set()
        for begin in self._onward:
            way = [(begin, iter(self._onward[begin]))]
            while way:
                onward = next(way[-1][1], None)
                if onward is None:
                    finished.add(way.pop()[0])
                    continue
                places = [place for place, _ in way]
                if onward in places:
                    return [*places[places.index(onward) :], onward]
                if onward not in finished:
                    way.append((onward, iter(self._onward.get(onward, ()))))
        return []

    def _add(self, path: Path, keyword: str, what: str, do: str) -> None:
        self.found.append(Problem(path, keyword, what, do))


def _instead(keyword: str) -> str:
    known = [*_PLAIN, *ONE, *SEVERAL, *sorted(NAMED), *sorted(ANNOTATIONS), "$ref"]
    near = _INSTEAD.get(keyword) or nearest(keyword, known)
    return f"use {near}, the nearest that is supported" if near else "leave it out; docs/schemas.md lists what there is"


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == value


def _is_count(value: object) -> bool:
    return _is_number(value) and value >= 0 and value % 1 == 0  # type: ignore[operator]


def _is_type(value: object) -> bool:
    names = value if isinstance(value, (list, tuple)) else [value]
    return bool(names) and all(isinstance(name, str) and name in TYPES for name in names)


def _are_names(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(name, str) for name in value)


_COUNT = ("a whole number of 0 or more", _is_count)
_NUMBER = ("a number", _is_number)
# What each keyword takes that holds no schema.
_PLAIN: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "type": (f"one or a list of {', '.join(TYPES)}", _is_type),
    "enum": ("a list of one or more values", lambda value: isinstance(value, (list, tuple)) and len(value) > 0),
    "const": ("a value", lambda value: True),
    "required": ("a list of names", _are_names),
    "dependentRequired": (
        "an object with lists of names",
        lambda value: isinstance(value, dict) and all(map(_are_names, value.values())),
    ),
    "minProperties": _COUNT,
    "maxProperties": _COUNT,
    "minItems": _COUNT,
    "maxItems": _COUNT,
    "minContains": _COUNT,
    "maxContains": _COUNT,
    "uniqueItems": ("true or false", lambda value: isinstance(value, bool)),
    "minLength": _COUNT,
    "maxLength": _COUNT,
    "pattern": ("a regular expression", lambda value: isinstance(value, str)),
    "minimum": _NUMBER,
    "maximum": _NUMBER,
    "exclusiveMinimum": _NUMBER,
    "exclusiveMaximum": _NUMBER,
    "multipleOf": ("a number above 0", lambda value: _is_number(value) and value > 0),
}
