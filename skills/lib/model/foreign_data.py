"""Workflows from anybody's data: the functions that it may name, and whether its workflow is valid."""

from __future__ import annotations

from skills.lib.errors import SkillError, UsageError
from skills.lib.field_checks import shown
from skills.lib.model.as_data import NAME, name_of
from skills.lib.model.from_data import other_data
from skills.lib.model.requirements import Command
from skills.lib.model.texts import check_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


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
        raise other_data(error) from error
