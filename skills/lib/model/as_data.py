"""Records as plain JSON data and back: how a workflow is stored, and what its fingerprint is taken over."""

from __future__ import annotations

import sys

from skills.lib.errors import SkillError
from skills.lib.model.requirements import Arg, Artifact, Command, Field
from skills.lib.model.types import Before, Check, Dispatch, Gate, NeverEndsFailed, Passes, Person, Rendered
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def plain_fields(value: Record) -> dict[str, Any]:
    """The fields of a record as data, without those that are empty."""
    return {name: plain(field) for name, field in value.fields().items() if field or field == 0}


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
        return {"$call": f"{value.__module__}:{value.__qualname__}"}
    raise SkillError(f"{value!r} cannot be part of a workflow: it has no form as data")


_KINDS: dict[str, type[Record]] = {
    kind.__name__: kind
    for kind in (Arg, Field, Artifact, Before, Check, Command, Dispatch, Person, Gate, NeverEndsFailed, Passes)
}


def rich(value: Any, resolve: Callable[[str], Callable[..., Any]]) -> Any:
    """The value that data stands for; ``resolve`` turns ``module:name`` into the callable."""
    if isinstance(value, list):
        return [rich(item, resolve) for item in value]
    if isinstance(value, dict):
        if set(value) == {"$xml"}:
            return Rendered(value["$xml"])
        if set(value) == {"$call"}:
            return resolve(value["$call"])
        if "$kind" in value:
            fields = {key: rich(item, resolve) for key, item in value.items() if key != "$kind"}
            return _KINDS[value["$kind"]](**fields)
        return {key: rich(item, resolve) for key, item in value.items()}
    return value


def import_callable(name: str) -> Callable[..., Any]:
    """The function ``module:name``. Raises SkillError if it cannot be found."""
    module, _, path = name.partition(":")
    try:
        from importlib import import_module  # only stored workflows are read back

        found: Any = sys.modules.get(module) or import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise SkillError(
            f"{name} cannot be found: {error}", remedy="use module:function of an importable module"
        ) from error
    if not callable(found):
        raise SkillError(f"{name} is not a function")
    return found  # type: ignore[no-any-return]
