"""Values of a gateway file, each checked to be of its kind; an error names the file and the line."""

from __future__ import annotations

from skills.lib.errors import EnvironmentProblem, did_you_mean, nearest
from skills.lib.schema.patterns import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, NoReturn

    At = tuple[str, ...]

_UNITS = {"k": 1_000, "M": 1_000_000, "G": 1_000_000_000}
_NUMBER = Pattern(r"^[0-9]{1,12}(?:\.[0-9]{1,6})?$")


class GatewayFileError(EnvironmentProblem):
    """A gateway file cannot be used; the message has its path, the line and what is valid."""


class Fields:
    """Reads values by name from mappings; ``at`` is the way to a mapping by its keys, for the line of an error."""

    def __init__(self, path: str, lines: Mapping[At, int]) -> None:
        self.path = path
        self.lines = lines

    def fail(self, at: At, cause: str, valid: str = "", remedy: str = "") -> NoReturn:
        raise GatewayFileError(f"{self.where(at)}: {cause}", valid=valid, remedy=remedy)

    def where(self, at: At) -> str:
        """The file, and the line of the value or of the nearest key above it."""
        while at and at not in self.lines:
            at = at[:-1]
        return f"{self.path}:{self.lines[at]}" if at else self.path

    def keys(self, value: Any, at: At, known: Sequence[str]) -> dict[str, Any]:
        if not isinstance(value, dict):
            self.fail(at, f"{at[-1] if at else 'it'} is no mapping", ", ".join(known))
        for name in value:
            if name not in known:
                self.fail(
                    (*at, name), f"{name!r:.80} is not known here{did_you_mean(nearest(name, known))}", ", ".join(known)
                )
        return value

    def mapping(self, fields: Any, name: str, at: At) -> dict[str, Any]:
        value = fields.get(name, {})
        if not isinstance(value, dict):
            self.fail((*at, name), f"{name} is no mapping")
        return value

    def text(self, fields: Any, name: str, at: At) -> str:
        value = fields.get(name, "")
        if not isinstance(value, str):
            self.fail((*at, name), f"{name} is no text")
        return value

    def texts(self, fields: Any, name: str, at: At) -> tuple[str, ...]:
        value = fields.get(name, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            self.fail((*at, name), f"{name} is no list of texts")
        return tuple(value)

    def switch(self, fields: Any, name: str, at: At) -> bool:
        value = self.text(fields, name, at) or "false"
        if value not in ("true", "false"):
            self.fail((*at, name), f"{name} is {value!r:.80}", "true, false")
        return value == "true"

    def number(self, fields: Any, name: str, at: At, default: float) -> float:
        value = self.text(fields, name, at)
        if not value:
            return default
        unit = _UNITS.get(value[-1], 1)
        digits = value[:-1] if unit > 1 else value
        if not _NUMBER.is_found_in(digits):
            self.fail((*at, name), f"{name} is {value!r:.80}, no number", "such as 30, 0.5, 200k, 512M, 2G")
        return float(digits) * unit
