"""Records as plain JSON data and back: how a workflow is stored, and what its fingerprint is taken over."""

from __future__ import annotations

from skills.lib.errors import SkillError
from skills.lib.field_checks import shown
from skills.lib.model.requirements import Arg, Artifact, Command, Field
from skills.lib.model.types import Before, Check, Dispatch, Gate, NeverEndsFailed, Passes, Person, Rendered
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

# Fields whose values are the author's own JSON: a name with $ means nothing of ours in them.
_JSON = ("schema", "default", "$kind")
# The attribute of a function that holds its name in data, if that is not ``module:name``.
_NAME = "name_in_data"


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
        return {"$call": _name_of(value)}
    raise SkillError(f"{value!r} cannot be part of a workflow: it has no form as data")


def _name_of(function: Callable[..., Any]) -> str:
    """The name of a function in data. Raises SkillError if it has none."""
    name = getattr(function, _NAME, None)
    if name is None:
        try:
            name = f"{function.__module__}:{function.__qualname__}"
        except AttributeError:
            what = f"{shown(function)} cannot be part of a workflow: it has no name"
            raise SkillError(what, remedy="write a function that calls it") from None
    return str(name)


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
            return _rendered(value["$xml"])
        if set(value) == {"$call"}:
            return resolve(value["$call"])
        if "$kind" in value:
            if value["$kind"] not in _KINDS:
                raise ValueError(f"there is no kind {shown(value['$kind'])}")
            fields = {key: item if key in _JSON else rich(item, resolve) for key, item in value.items()}
            return _KINDS[fields.pop("$kind")](**fields)
        return {key: rich(item, resolve) for key, item in value.items()}
    return value


def _rendered(text: str) -> Rendered:
    """The rendered XML that a text is. Raises ValueError for one that would end the element that it stands in."""
    from pyexpat import ExpatError, ParserCreate  # few texts are rendered, and no step comes here

    try:
        ParserCreate().Parse(f"<x>{text}</x>" if isinstance(text, str) else "", True)
    except (ExpatError, UnicodeEncodeError) as error:
        raise ValueError(f"$xml: {shown(text)} is not XML: {error}") from None
    return Rendered(text)


def one_of(functions: Mapping[str, Callable[..., Any]]) -> Callable[[str], Callable[..., Any]]:
    """What finds a function by its name in data among these; SkillError for any other. Nothing is imported."""

    def find(name: str) -> Callable[..., Any]:
        if not isinstance(name, str) or name not in functions:
            what = f"the function {shown(name)} is not among those that were given"
            raise SkillError(what, valid=", ".join(functions) or "none", remedy="give it in functions, by this name")
        function = functions[name]
        if not callable(function):
            raise SkillError(f"functions has {shown(function)} as {shown(name)}, which is not a function")
        return function if _has_name(function, name) else named(name, function)

    return find


def _has_name(function: Callable[..., Any], name: str) -> bool:
    try:
        return _name_of(function) == name
    except SkillError:
        return False


def named(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that does the same, and has this name in data."""

    def call(context: Any) -> Any:
        return function(context)

    setattr(call, _NAME, name)
    return call
