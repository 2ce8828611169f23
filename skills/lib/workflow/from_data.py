"""A workflow from its form as data: what ``Workflow.to_data`` wrote, read back."""

from __future__ import annotations

import importlib
import sys

from skills.lib.errors import SkillError
from skills.lib.record import Record
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.requirements import Arg, Artifact, Command, Field
from skills.lib.workflow.types import Before, Block, Check, Dispatch, Gate, NeverEndsFailed, Passes, Person

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from skills.lib.workflow.core import Handler

_KINDS: dict[str, type[Record]] = {
    kind.__name__: kind
    for kind in (Arg, Field, Artifact, Before, Check, Command, Dispatch, Person, Gate, NeverEndsFailed, Passes)
}
_TEXTS = ("title", "description", "closing", "unchecked")


def workflow_from_data(data: Mapping[str, Any], resolve: Callable[[str], Handler] | None = None) -> Workflow:
    """Build a workflow from ``to_data``'s form; ``resolve`` turns ``module:name`` into the callable.

    Raises SkillError for data of another form or a callable that cannot be found.
    """
    find = resolve or _import_callable
    try:
        steps = [StepDef(**{key: _rich(value, find) for key, value in step.items()}) for step in data["steps"]]
        return Workflow(
            data["name"],
            *steps,
            params=[_rich(arg, find) for arg in data.get("params", ())],
            start=data.get("start"),
            output=data.get("output", "xml"),
            tools=data.get("tools", ()),
            forbidden=data.get("forbidden", ()),
            reverify=data.get("reverify"),
            always=[_rich(stated, find) for stated in data.get("always", ())],
            **{name: data.get(name, "") for name in _TEXTS},
        )
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise SkillError(f"this is not a workflow's data: {type(error).__name__}: {error}") from error


def _rich(value: Any, resolve: Callable[[str], Handler]) -> Any:
    if isinstance(value, list):
        return [_rich(item, resolve) for item in value]
    if isinstance(value, dict):
        if set(value) == {"$xml"}:
            return Block(value["$xml"])
        if set(value) == {"$call"}:
            return resolve(value["$call"])
        if "$kind" in value:
            fields = {key: _rich(item, resolve) for key, item in value.items() if key != "$kind"}
            return _KINDS[value["$kind"]](**fields)
        return {key: _rich(item, resolve) for key, item in value.items()}
    return value


def _import_callable(name: str) -> Handler:
    module, _, path = name.partition(":")
    try:
        found: Any = sys.modules.get(module) or importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise SkillError(
            f"{name} cannot be found: {error}", remedy="use module:function of an importable module"
        ) from error
    if not callable(found):
        raise SkillError(f"{name} is not a function")
    return found  # type: ignore[no-any-return]
