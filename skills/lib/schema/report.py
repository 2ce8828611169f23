"""A Problem of a schema and a Violation of a value: what is wrong, and where."""

from __future__ import annotations

from skills.lib import compact_json
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    Path = tuple[str | int, ...]

# How much of a value is shown.
SHOWN = 80


class Problem(Record):
    """A keyword of a schema that cannot be used: its path, what is wrong, and what to write instead."""

    path: Path
    keyword: str
    what: str
    do: str

    @property
    def summary(self) -> str:
        """The place and what is wrong there."""
        return f"{pointer(self.path)}: {self.what}"

    def __str__(self) -> str:
        return f"{self.summary}; {self.do}"


class Violation:
    """A part of a value that does not meet the schema: its path, the keyword, what is wrong, and what is valid.

    ``value`` is that part, and ``schema`` the subschema that has the keyword. It is no Record, which takes longer to
    make: a check makes a hundred thousand of them.
    """

    __slots__ = ("keyword", "path", "schema", "valid", "value", "what")

    def __init__(
        self,
        path: Path,
        keyword: str,
        what: str,
        valid: str,
        value: Any = None,
        schema: Mapping[str, Any] | None = None,
    ) -> None:
        self.path = path
        self.keyword = keyword
        self.what = what
        self.valid = valid
        self.value = value
        self.schema = schema or {}

    def __str__(self) -> str:
        return f"at {json_path(self.path)}: {self.what}" + (f" (valid: {self.valid})" if self.valid else "")


def pointer(path: Iterable[object]) -> str:
    """The path as a reference into a schema: ``#/properties/id``."""
    return "#" + "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def json_path(path: Iterable[object]) -> str:
    """The path as a JSONPath: ``$.milestones[0].id``."""
    found = "$"
    for part in path:
        if isinstance(part, str) and part.isidentifier() and part.isascii():
            found += f".{part}"
        else:
            found += f"[{shown(part)}]"
    return found


def shown(value: object) -> str:
    """The value as JSON on one line, cut if it is long."""
    try:
        text = compact_json.readable(value)
    except (TypeError, ValueError, RecursionError):
        text = str(value) if isinstance(value, float) else f"{type(value).__name__} of the program"
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def names(expected: str | Sequence[str]) -> Sequence[str]:
    """The names of types that ``type`` has: one, or a list."""
    return (expected,) if isinstance(expected, str) else expected


def types(value: object) -> tuple[str, ...]:
    """The JSON types of a value."""
    if isinstance(value, bool):
        return ("boolean",)
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return ("integer", "number")
    for kind, name in ((str, "string"), (float, "number"), (dict, "object"), (list, "array")):
        if isinstance(value, kind):
            return (name,)
    return ("null",) if value is None else ()


def kind(value: object) -> str:
    """The JSON type of a value with its article."""
    return _with_article((types(value) or ("value that JSON does not have",))[0])


def type_words(expected: str | Sequence[str]) -> str:
    """The types that are valid, in words."""
    return " or ".join(_with_article(name) for name in names(expected))


def _with_article(name: str) -> str:
    return name if name == "null" else f"{'an' if name[0] in 'aio' else 'a'} {name}"
