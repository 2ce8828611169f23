"""Records from plain JSON data, which anybody may have written."""

from __future__ import annotations

from pyexpat import ExpatError, ParserCreate

from skills.lib.errors import SkillError, UsageError
from skills.lib.field_checks import shown
from skills.lib.model.as_data import NAME, name_of
from skills.lib.model.requirements import Arg, Artifact, Command, Field
from skills.lib.model.texts import check_tree
from skills.lib.model.types import Before, Check, Dispatch, Gate, NeverEndsFailed, Passes, Person, Rendered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from skills.lib.record import Record

# Fields whose values are the author's own JSON: a name with $ means nothing of ours in them.
_JSON = ("schema", "default", "$kind")
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
        return name_of(function) == name
    except SkillError:
        return False


def named(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that does the same, and has this name in data."""

    def call(context: Any) -> Any:
        return function(context)

    setattr(call, NAME, name)
    return call


def check_characters(data: Mapping[str, Any]) -> None:
    """Raise SkillError, which names the step, for a text in a workflow's data that no document can hold."""
    parts = [(f"workflow {shown(data['name'])}", {name: data[name] for name in data if name != "steps"})]
    parts += [(f"step {shown(fields['id'])}", fields) for fields in data["steps"]]
    for label, fields in parts:
        for name, value in fields.items():
            try:
                check_tree(value, f"{label} {name}", bounded=False)
            except UsageError as error:
                what = f"this is not a workflow's data: {error.what}"
                raise SkillError(what, valid=error.valid, remedy=error.remedy) from error
