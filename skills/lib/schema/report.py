"""A Problem of a schema and a Violation of a value: what is wrong, and where."""

from __future__ import annotations

from skills.lib import compact_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    Path = tuple[str | int, ...]

# How much of a value is shown.
SHOWN = 80


class Problem:
    """A keyword of a schema that cannot be used: its path, what is wrong, and what to write instead."""

    __slots__ = ("do", "keyword", "path", "what")

    def __init__(self, path: Path, keyword: str, what: str, do: str) -> None:
        self.path = path
        self.keyword = keyword
        self.what = what
        self.do = do

    @property
    def summary(self) -> str:
        """The place and what is wrong there."""
        return f"{pointer(self.path)}: {self.what}"

    def __str__(self) -> str:
        return f"{self.summary}; {self.do}"


class Violation:
    """A part of a value that does not meet the schema: its path, the keyword, what is wrong, and what is valid.

    ``value`` is that part, and ``schema`` the subschema that has the keyword.
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
