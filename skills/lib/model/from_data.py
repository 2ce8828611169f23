"""Records from plain JSON data, which anybody may have written."""

from __future__ import annotations

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


def check(workflow: Any, commands: bool) -> None:
    """Return if a workflow that was made of anybody's data is valid, and runs commands only if it may.

    Raises SkillError, which names the step, and InvalidWorkflow with every finding.
    """
    if workflow.policy or workflow.layers:
        what = f"the workflow {shown(workflow.name)} has a policy, which is a file beside a script: data has none"
        if workflow.layers:
            what = f"the workflow {shown(workflow.name)} has layers, with which only a phase opens runs"
        raise SkillError(
            what, remedy="take the policy out; lockstep.policy.yaml of a project holds for every run in it"
        )
    for step in workflow.steps:
        if not commands and any(isinstance(spec, Command) for spec in step.requires):
            what = f"{step._label} runs a command, which a workflow from data may not"
            raise SkillError(what, remedy="take the Command out, or give commands=True if you trust the data")
    check_characters(workflow.to_data())
    # By its name: validation is the floor above, and no step of a registered workflow comes here.
    registration: Any = __import__("skills.lib.validation.registration", fromlist=["require_data"])
    try:
        registration.require_data(workflow)
    except (ValueError, RecursionError) as error:
        raise _other_data(error) from error


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
        raise _other_data(error) from error


def _step(data: Any, number: int, resolve: Resolve, step: Callable[..., Any]) -> Any:
    """A step from its data; SkillError names the step."""
    try:
        return step(**{key: value if type(value) is str else rich(value, resolve) for key, value in data.items()})
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError, SkillError) as error:
        name = data.get("id") if isinstance(data, dict) else None
        which = f"step {shown(name)}" if isinstance(name, str) else f"step number {number}"
        if not isinstance(error, SkillError):
            raise _other_data(error, "" if str(error).startswith(which) else f"{which}: ") from error
        raise SkillError(f"{which}: {error.what}", valid=error.valid, remedy=error.remedy) from error


def _other_data(error: Exception, where: str = "") -> SkillError:
    if isinstance(error, KeyError):
        return SkillError(f"this is not a workflow's data: {where}it has no {error}")
    return SkillError(f"this is not a workflow's data: {where}{error}")
