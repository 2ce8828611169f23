"""Values as Python source, in the layout of the house."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skills.lib.migration.values import Made, is_word
from skills.lib.workflow.types import Dispatch, Value

WIDTH = 120


def quoted(text: str) -> str:
    """The text as a Python literal, in double quotes where that takes no escape."""
    literal = repr(str.__str__(text))
    return f'"{literal[1:-1]}"' if literal[0] == "'" and '"' not in literal else literal


def call(name: str, given: Mapping[str, Any], indent: int = 0) -> str:
    """A call of the library as source, broken into lines where it is too long for one at this indent."""
    return laid(name, [f"{key}={source(value)}" for key, value in given.items()], "()", indent)


def source(value: Any) -> str:
    """A value as Python source, on one line."""
    if isinstance(value, Made):
        return _on_line(value.name, value.given)
    if is_word(value):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Dispatch):
        plain = Dispatch(value.agent).fields()
        given = {key: one for key, one in value.fields().items() if key == "agent" or one != plain[key]}
        return _on_line("Dispatch", given)
    if isinstance(value, Value):
        return _on_line(type(value).__name__, value.fields())
    if isinstance(value, (list, tuple)):
        items = ", ".join(source(one) for one in value)
        return f"[{items}]" if isinstance(value, list) else f"({items}{',' * (len(value) == 1)})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{source(key)}: {source(one)}" for key, one in value.items()) + "}"
    return repr(value)


def _on_line(name: str, given: Mapping[str, Any]) -> str:
    return f"{name}({', '.join(f'{key}={source(value)}' for key, value in given.items())})"


def laid(head: str, items: Sequence[str], brackets: str, indent: int) -> str:
    """A list or table on one line where it fits, else one item to a line."""
    line = f"{head}{brackets[0]}{', '.join(items)}{brackets[1]}"
    if indent + len(line) < WIDTH and "\n" not in line:
        return line
    inner = " " * (indent + 4)
    return "\n".join([f"{head}{brackets[0]}", *(f"{inner}{item}," for item in items), " " * indent + brackets[1]])
