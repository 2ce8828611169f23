"""Templates with names in braces: if a parameter of a sub-agent accepts the values that they can become."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skills.lib.model import values
from skills.lib.model.requirements import Arg, Field
from skills.lib.model.types import Dispatch
from skills.lib.validation.state_flow import PLACEHOLDER

if TYPE_CHECKING:
    from skills.lib.validation.view import GraphView

_NUMERIC = ("int", "float")
# What may stand around a value that makes the whole a number.
_OF_NUMBERS = re.compile(r"[\s\d+\-._eE]*")


def refusal(graph: GraphView, at: int, template: str, arg: Arg) -> str:
    """The reason why the parameter never accepts the template's value at that step; empty if it may."""
    names = PLACEHOLDER.findall(template)
    handler = graph.steps[at].handler
    if (
        names == ["target"] * len(names)
        and names
        and isinstance(handler, Dispatch)
        and isinstance(handler.targets, tuple)
    ):
        faults = [_fault(arg, template.replace("{target}", target)) for target in handler.targets]
        return next((fault for fault in faults if fault), "")
    if not names:
        return _fault(arg, template) if template.strip() else ""
    if template == f"{{{names[0]}}}":
        return _never(source_of(graph, names[0]), arg)
    return _written(template, arg)


def doubt(graph: GraphView, at: int, template: str, arg: Arg) -> str:
    """The reason why the parameter refuses some declared values of the template at that step; empty if none."""
    names = PLACEHOLDER.findall(template)
    if not names:
        return ""
    handler = graph.steps[at].handler
    if template == "{target}" and isinstance(handler, Dispatch) and isinstance(handler.targets, str):
        listed = source_of(graph, handler.targets)
        # One entry of a list is a text, of the choices that the list has.
        return _partly(Field(listed.name, choices=listed.choices), arg) if listed is not None else ""
    sources = [source_of(graph, name) for name in names]
    if arg.required and not PLACEHOLDER.sub("", template).strip() and all(map(may_be_missing, sources)):
        return "it may be missing, and is required"
    return _partly(sources[0], arg) if template == f"{{{names[0]}}}" else ""


def source_of(graph: GraphView, name: str) -> Arg | Field | None:
    """The declaration of a parameter of the run, or of ``step.value``; None if there is none."""
    source, dot, field = name.rpartition(".")
    if not dot:
        return next((arg for arg in graph.workflow.run_params() if arg.name == name), None)
    index = graph.index.get(source)
    specs: list[Arg | Field] = [*graph.workflow.step_params(source)]
    if index is not None:
        specs += [spec for spec in graph.steps[index].requires if isinstance(spec, Field)]
    return next((spec for spec in specs if spec.name == field), None)


def may_be_missing(spec: Arg | Field | None) -> bool:
    if spec is None or spec.required:
        return False
    return isinstance(spec, Field) or spec.default is None or not str(spec.default).strip()


def _fault(arg: Arg, text: str) -> str:
    """Why a text is no value of the parameter."""
    try:
        values.read(arg, text)
    except ValueError as error:
        return str(error)
    return ""


def has_empty_range(spec: Arg | Field) -> bool:
    """True if its minimum is above its maximum, so that no value fits."""
    return spec.minimum is not None and spec.maximum is not None and spec.minimum > spec.maximum


def as_choice(spec: Arg | Field) -> Field:
    """The requirement that one choice must meet: a value of the same type, or for a list one of its entries."""
    if spec.type == "list":
        return Field(spec.name)
    if has_empty_range(spec):
        return Field(spec.name, spec.type)
    return Field(spec.name, spec.type, minimum=spec.minimum, maximum=spec.maximum)


def _never(source: Arg | Field | None, arg: Arg) -> str:
    """Why no value of the source is one of the parameter; empty if one may be."""
    if source is None:
        return ""
    if source.choices and source.type != "list":
        refused = [_fault(arg, choice) for choice in source.choices]
        return refused[0] if all(refused) else ""
    if source.type in ("list", "items") and arg.type in (*_NUMERIC, "bool"):
        return f"{source.name} is a list, and {arg.name} is {values.expectation(arg)}"
    if source.type == "bool":
        return _fault(arg, "true") and _fault(arg, "false")
    alike = source.type == arg.type or {source.type, arg.type} <= set(_NUMERIC)
    if alike and _are_apart(source, arg):
        return f"{source.name} is {values.expectation(source)}, and {arg.name} is {values.expectation(arg)}"
    return ""


def _partly(source: Arg | Field | None, arg: Arg) -> str:
    """Why some values of the source are none of the parameter."""
    if source is None or source.type == "list":
        return ""
    if source.choices:
        return next((fault for fault in (_fault(arg, choice) for choice in source.choices) if fault), "")
    if source.type == "text" and (arg.choices or arg.type in (*_NUMERIC, "bool")):
        return f"it is any text, and {arg.name} takes {values.expectation(arg)}"
    if source.type in _NUMERIC and arg.type in _NUMERIC:
        low = arg.minimum is not None and (source.minimum is None or source.minimum < arg.minimum)
        high = arg.maximum is not None and (source.maximum is None or source.maximum > arg.maximum)
        if low or high or (source.type == "float" and arg.type == "int"):
            return f"it is {values.expectation(source)}, and {arg.name} takes {values.expectation(arg)}"
    return ""


def _are_apart(one: Arg | Field, other: Arg | Field) -> bool:
    """True if the ranges of two numbers, or of two lengths, do not overlap."""
    if has_empty_range(one) or has_empty_range(other):
        return False
    lows = [spec.minimum for spec in (one, other) if spec.minimum is not None]
    highs = [spec.maximum for spec in (one, other) if spec.maximum is not None]
    return bool(lows and highs) and max(lows) > min(highs)


def _written(template: str, arg: Arg) -> str:
    """Why no value accepts the parts of a template that are written out."""
    written = PLACEHOLDER.sub("", template)
    if values.is_placeholder(template, arg.name):
        return _fault(arg, template)
    if arg.type in _NUMERIC and not _OF_NUMBERS.fullmatch(written):
        return f"{written.strip()!r} is no part of {values.expectation(arg)}"
    if arg.choices and arg.type != "list":
        pattern = ".*".join(map(re.escape, PLACEHOLDER.split(template)[::2]))
        if not any(re.fullmatch(pattern, choice, re.DOTALL) for choice in arg.choices):
            return f"none of {', '.join(arg.choices)} has that form"
    if arg.type == "text" and arg.maximum is not None and len(written) > arg.maximum:
        return (
            f"what is written out has {len(written)} characters, and {arg.name} is {values.expectation(as_choice(arg))}"
        )
    return ""
