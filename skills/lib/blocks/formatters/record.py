"""What is to be reported and proved before a step may be left."""

from __future__ import annotations

from collections.abc import Sequence

from skills.lib.blocks.formatters.commands import command_line
from skills.lib.blocks.formatters.fragments import block, exactly
from skills.lib.errors import UsageError
from skills.lib.model.requirements import Arg, Artifact, Command, Field, Requirement
from skills.lib.model.types import Element, Rendered


def format_context(values: dict[str, str], step: str = "") -> Rendered:
    """Show what is known before the step begins, each value exactly as it was recorded."""
    if not values:
        raise UsageError("values is empty", remedy="give at least one name and its value")
    shown = [Element("value", {"step": step or None, "name": name}, exactly(text)) for name, text in values.items()]
    return block("CONTEXT", None, *shown)


def format_record_block(requirements: Sequence[Requirement | Arg]) -> Rendered:
    """List what to report and what will be checked: fields, then parameters, files and commands."""
    if not requirements:
        raise UsageError("requirements is empty", remedy="give at least one Field, Arg, Artifact or Command")
    kinds = (Field, Arg, Artifact, Command)
    ordered = sorted(requirements, key=lambda requirement: kinds.index(type(requirement)))
    return block("RECORD", None, *map(_requirement, ordered))


def _requirement(requirement: Requirement | Arg) -> Element:
    if isinstance(requirement, Artifact):
        has_schema = True if requirement.schema is not None else None
        return Element("artifact", {"path": requirement.path, "schema": has_schema}, requirement.help)
    if isinstance(requirement, Command):
        attributes = {"command": command_line(requirement.argv), "timeout": requirement.timeout}
        return Element("check", attributes, requirement.help)
    attributes = {"name": requirement.name}
    if isinstance(requirement, Arg):
        attributes["flag"] = requirement.flag
    attributes |= {
        "type": requirement.type,
        "required": requirement.required,
        "choices": "|".join(requirement.choices) or None,
        "min": requirement.minimum,
        "max": requirement.maximum,
    }
    return Element("param" if isinstance(requirement, Arg) else "field", attributes, requirement.help)
