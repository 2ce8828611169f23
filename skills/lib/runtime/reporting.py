"""How a step is left by who calls tools: the schema of the tool ``report_step``, and the request that a call makes.

For any loop around a model: it needs no framework.
"""

from __future__ import annotations

from skills.lib.errors import UsageError
from skills.lib.model.run import FIXES, Request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from skills.lib.runtime.peeking import Peek

REPORT = "report_step"
DESCRIPTION = (
    "Report the present step and go on: the only way from a step to the next. Call it alone, once the step is done. A "
    "refused report changes nothing and says what to correct."
)
ARGUMENTS = ("record", "parameters", "outcome", "errata")
# JSON Schema by the type of a field; a value of the type json may be anything.
_TYPES: dict[str, dict[str, Any]] = {
    "text": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "list": {"type": "array", "items": {"type": "string"}},
    "json": {},
    "items": {"type": "array", "items": {"type": "object"}},
    "statements": {"type": "array", "items": {"type": "string"}},
    "answers": {"type": "array", "items": {"type": "object"}},
}
# The names of a field's bounds in a schema, by the schema's type.
_BOUNDS = {
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
}


def schema(peek: Peek) -> dict[str, Any]:
    """The JSON Schema of a report's arguments, for the step that a run is at."""
    properties: dict[str, Any] = {}
    for name, kind in (("record", "Field"), ("parameters", "Arg")):
        specs = [spec for spec in peek.requirements if spec["$kind"] == kind]
        if specs:
            required = [spec["name"] for spec in specs if spec.get("required")]
            inside = {spec["name"]: _property(spec) for spec in specs}
            properties[name] = {"type": "object", "properties": inside, "additionalProperties": False}
            properties[name] |= {"required": required} if required else {}
    if peek.outcomes:
        ways = "; ".join(f"{name}: {when}" for name, when in peek.outcomes.items() if when)
        properties["outcome"] = {"type": "string", "enum": list(peek.outcomes), "description": ways}
    needed = [name for name, one in properties.items() if name == "outcome" or one.get("required")]
    properties["errata"] = {
        "type": "object",
        "additionalProperties": {"type": "string"},
        "description": "Only if a recorded value of an earlier step proved wrong: what is wrong, by step.field.",
    }
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


def _property(spec: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(_TYPES[spec["type"]])
    choices = spec.get("choices")
    if choices and found.get("type") == "string":
        found["enum"] = list(choices)
    for bound, name in zip(("minimum", "maximum"), _BOUNDS.get(found.get("type", ""), ()), strict=False):
        if spec.get(bound) is not None:
            found[name] = spec[bound]
    words = spec.get("help", "")
    if choices and "enum" not in found:
        words = f"{words}{' ' if words else ''}One of: {', '.join(choices)}."
    return {**found, "description": words} if words else found


def request(peek: Peek, arguments: Mapping[str, Any], turn: int | None = None) -> Request:
    """The request that a report makes of the run; ``turn`` is that at which it was asked for, if not the present one.

    A field or parameter that was given beside ``record`` is taken as if it stood there. Raises UsageError for an
    argument that no report has, and for one of another form.
    """
    fields, parameters = [
        {spec["name"] for spec in peek.requirements if spec["$kind"] == kind} for kind in ("Field", "Arg")
    ]
    given = {name: value for name, value in arguments.items() if value is not None}
    maps = {name: _mapping(name, given.pop(name, {})) for name in ("record", "parameters", "errata")}
    outcome = given.pop("outcome", None)
    if outcome is not None and not isinstance(outcome, str):
        raise UsageError(f"{REPORT}: outcome is {outcome!r:.80}", valid=", ".join(peek.outcomes) or "no outcome")
    for name, value in given.items():
        if name not in fields | parameters | {FIXES}:
            known = ", ".join([*ARGUMENTS[: 3 if peek.outcomes else 2], *sorted(fields | parameters)])
            raise UsageError(f"{REPORT} has no argument {name!r:.80}", valid=known)
        maps["parameters" if name in parameters else "record"].setdefault(name, value)
    for name in parameters & maps["record"].keys():
        maps["parameters"].setdefault(name, maps["record"].pop(name))
    return Request(
        "next",
        run=peek.run.id,
        turn=peek.run.turn if turn is None else turn,
        records=maps["record"],
        params=maps["parameters"],
        errata=maps["errata"],
        outcome=outcome or None,
    )


def _mapping(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"{REPORT}: {name} is {value!r:.80}", valid="an object of values by name")
    return dict(value)
