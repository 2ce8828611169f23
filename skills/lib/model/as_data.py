"""Records as plain JSON data: how a workflow is stored, and what its fingerprint is taken over."""

from __future__ import annotations

from skills.lib.errors import SkillError
from skills.lib.field_checks import shown
from skills.lib.model.types import Rendered
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# The attribute of a function that holds its name in data, if that is not ``module:name``.
NAME = "name_in_data"


def plain_fields(value: Record) -> dict[str, Any]:
    """The fields of a record as data, without those that are empty."""
    found = {}
    for name in type(value).__slots__:  # type: ignore[attr-defined]  # of its metaclass
        field = getattr(value, name)
        if (field or field == 0) and name[0] != "_":
            found[name] = field if type(field) is str else plain(field)
    return found


def plain(value: Any) -> Any:
    """The value as data. Raises SkillError if it has no such form."""
    if type(value) is str:
        return value
    if isinstance(value, Rendered):
        return {"$xml": str(value)}
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Record):
        return {"$kind": type(value).__name__, **plain_fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if callable(value):
        return {"$call": name_of(value)}
    raise SkillError(f"{value!r} cannot be part of a workflow: it has no form as data")


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function in data. Raises SkillError if it has none."""
    name = getattr(function, NAME, None)
    if name is None:
        try:
            name = f"{function.__module__}:{function.__qualname__}"
        except AttributeError:
            what = f"{shown(function)} cannot be part of a workflow: it has no name"
            raise SkillError(what, remedy="write a function that calls it") from None
    return str(name)
