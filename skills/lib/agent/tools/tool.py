"""A tool of an agent as data: its name, what a model is told of it, its arguments as JSON Schema, and its function."""

from __future__ import annotations

from skills.lib import schema
from skills.lib.errors import UsageError
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

# How many faults of one call are named.
_NAMED = 4


class Result(Record):
    """What a tool returns: a text for the model, and the same as data where a program reads it."""

    text: str
    data: Mapping[str, Any] = {}


def never() -> bool:
    """Say that nobody has stopped the call."""
    return False


class Tool(Record):
    """A tool. One that only ``reads`` may be run again after a crash; one that ``ends`` is the last of its session.

    ``run`` takes the arguments by name, and ``stopped`` beside them if it may take long.
    """

    name: str
    about: str
    parameters: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]
    run: Callable[..., Result]
    reads: bool = False
    ends: bool = False
    is_long: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        return {
            "type": "object",
            "properties": {name: dict(one) for name, one in self.parameters.items()},
            "required": list(self.required),
            "additionalProperties": False,
        }

    def call(self, arguments: Mapping[str, Any], stopped: Callable[[], bool] = never) -> Result:
        """Check the arguments and run the tool. Raises LockstepError.

        What may take long ends soon after ``stopped`` says so; another thread may make it say so.
        """
        given = {name: value for name, value in arguments.items() if value is not None or name in self.required}
        found = schema.violations(self.schema, given)
        if found:
            faults = "; ".join(f"{'/'.join(map(str, one.path)) or 'call'}: {one.what}" for one in found[:_NAMED])
            raise UsageError(f"{self.name}: {faults}", valid=self._signature())
        for name, text in _texts(given):
            try:
                text.encode()
            except UnicodeEncodeError:
                raise UsageError(f"{self.name}: {name} is no text in UTF-8", valid=self._signature()) from None
        return self.run(**given, stopped=stopped) if self.is_long else self.run(**given)

    def _signature(self) -> str:
        """The arguments in words."""
        words = []
        for name, about in self.parameters.items():
            kind = about.get("type", "value")
            words.append(f"{name} ({kind}{'' if name in self.required else ', optional'})")
        return ", ".join(words) or "no arguments"


def _texts(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a value, with the name of the argument that it is in."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _texts(one, name or key)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one, name)
