"""JSON values of what a program's own tools give: a Python value that is none is not known."""

from __future__ import annotations

from skills.lib.guard.values import UNKNOWN, Open

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What lies deeper is not known.
DEEPEST = 100


def plain(value: Any, around: tuple[int, ...] = ()) -> Any:
    """The value as JSON has it, its keys as texts; UNKNOWN for what JSON does not have, such as a set or a Decimal."""
    kind = type(value)
    if value is None or kind in (str, int, float, bool):
        return value
    for base in (str, int, float):  # such as a member of an Enum
        if isinstance(value, base):
            return base.__str__(value) if base is str else base(value)
    if id(value) in around or len(around) > DEEPEST:
        return UNKNOWN
    around = (*around, id(value))
    if isinstance(value, (list, tuple)):
        made = [plain(part, around) for part in value]
        return type(value)(made) if isinstance(value, list) and kind is not list else made
    return _map(value, around) if isinstance(value, dict) else UNKNOWN


def _map(value: dict[Any, Any], around: tuple[int, ...]) -> dict[str, Any]:
    """A map with its keys as JSON writes them; with a key that JSON does not have, more may be in it."""
    names = [(_name(key), part) for key, part in value.items()]
    made: dict[str, Any] = {}
    for name, part in names:
        if name is not None:
            made[name] = UNKNOWN if name in made else plain(part, around)
    is_open = isinstance(value, Open) or any(name is None for name, _ in names)
    return Open(made) if is_open else made


def _name(key: Any) -> str | None:
    if isinstance(key, str):
        return str.__str__(key)
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    return str(int(key)) if isinstance(key, int) else repr(key) if type(key) is float else None
