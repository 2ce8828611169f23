"""Records from plain JSON data, which anybody may have written."""

from __future__ import annotations

from skills.lib.errors import SkillError
from skills.lib.field_checks import shown
from skills.lib.model.requirements import Arg, Artifact, Command, Field
from skills.lib.model.types import Before, Check, Dispatch, Gate, NeverEndsFailed, Passes, Person, Rendered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from skills.lib.record import Record

    # What turns the name of a function in data into the function.
    Resolve = Callable[[str], Callable[..., Any]]

# Fields whose values are the author's own JSON: a name with $ means nothing of ours in them.
_JSON = ("schema", "default")
_KINDS: dict[str, type[Record]] = {
    kind.__name__: kind
    for kind in (Arg, Field, Artifact, Before, Check, Command, Dispatch, Person, Gate, NeverEndsFailed, Passes)
}


def rich(value: Any, resolve: Resolve) -> Any:
    """The value that data stands for; ``resolve`` turns ``module:name`` into the callable."""
    if isinstance(value, list):
        return [item if type(item) is str else rich(item, resolve) for item in value]
    if isinstance(value, dict):
        if "$kind" in value:
            kind = value["$kind"]
            make = _KINDS[kind] if type(kind) is str and kind in _KINDS else _rare(kind)
            return make(
                **{
                    key: item if type(item) is str or key in _JSON else rich(item, resolve)
                    for key, item in value.items()
                    if key != "$kind"
                }
            )
        if len(value) == 1:
            if "$xml" in value:
                return _rendered(value["$xml"])
            if "$call" in value:
                return resolve(value["$call"])
        return {key: rich(item, resolve) for key, item in value.items()}
    return value


def _rare(kind: object) -> type[Record]:
    """The class of a kind that few graphs have. ValueError for none."""
    if kind == "Rules":
        from skills.lib.model.rules import Rules

        return Rules
    if kind == "Layer":
        from skills.lib.model.layers import Layer

        return Layer
    raise ValueError(f"there is no kind {shown(kind)}")


def _rendered(text: str) -> Rendered:
    """The rendered XML that a text is. Raises ValueError for one that would end the element that it stands in."""
    from pyexpat import ExpatError, ParserCreate  # few texts are rendered before they are data

    try:
        ParserCreate().Parse(f"<x>{text}</x>" if isinstance(text, str) else "", True)
    except (ExpatError, UnicodeEncodeError) as error:
        raise ValueError(f"$xml: {shown(text)} is not XML: {error}") from None
    return Rendered(text)


def restored(data: Mapping[str, Any], resolve: Resolve, workflow: Any, step: Callable[..., Any]) -> Any:
    """The ``workflow`` whose ``to_data`` this is, with its steps made by ``step``. Raises SkillError for other data."""
    try:
        known = {name for name in workflow.__slots__ if name[0] != "_"}
        unknown = [name for name in data if name not in known]
        if unknown:
            raise ValueError(f"a workflow has no {shown(unknown[0])}")
        return workflow(
            data["name"],
            *[_step(given, at, resolve, step) for at, given in enumerate(data["steps"], 1)],
            params=[rich(arg, resolve) for arg in data.get("params", ())],
            start=data.get("start"),
            output=data.get("output", "xml"),
            tools=data.get("tools", ()),
            forbidden=data.get("forbidden", ()),
            reverify=data.get("reverify"),
            always=[rich(stated, resolve) for stated in data.get("always", ())],
            ends=data.get("ends", {}),
            layers=[rich(layer, resolve) for layer in data.get("layers", ())],
            **{name: data.get(name, "") for name in ("title", "description", "closing", "unchecked", "policy")},
        )
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise other_data(error) from error


def _step(data: Any, number: int, resolve: Resolve, step: Callable[..., Any]) -> Any:
    """A step from its data; SkillError names the step."""
    try:
        return step(**{key: value if type(value) is str else rich(value, resolve) for key, value in data.items()})
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, SkillError) as error:
        name = data.get("id") if isinstance(data, dict) else None
        which = f"step {shown(name)}" if isinstance(name, str) else f"step number {number}"
        if not isinstance(error, SkillError):
            raise other_data(error, "" if str(error).startswith(which) else f"{which}: ") from error
        raise SkillError(f"{which}: {error.what}", valid=error.valid, remedy=error.remedy) from error


def other_data(error: Exception, where: str = "") -> SkillError:
    """The error for data of another form; ``where`` names the part of it."""
    if isinstance(error, KeyError):
        return SkillError(f"this is not a workflow's data: {where}it has no {error}")
    return SkillError(f"this is not a workflow's data: {where}{error}")
