"""The JSON Schema of ``workflow.yaml``, for editors: what a file may hold, as far as its shape says so."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from skills.lib.graphfile import keys
from skills.lib.model.requirements import TYPES
from skills.lib.model.types import AgentRole, QRStatus, Severity

Schema = dict[str, Any]

# The reader takes every scalar as text: an editor reads 5 and true as something else.
_TEXT: Schema = {"type": ["string", "number", "boolean", "null"]}
_TEXTS: Schema = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}
_SWITCH: Schema = {"enum": [True, False, "true", "false"]}
_OUTCOME = "^[a-z][a-z0-9-]{0,23}$"
_STANDARD = ["ok", "fail", "skip", "iterate", "default"]
_NAME = "^[A-Za-z][A-Za-z0-9_]*$"
_HANDLERS = ("person", "dispatch", "gate", "handler")

_ABOUT = {
    "name": "The workflow's name.",
    "unchecked": "What no check of this workflow tells, such as: whether the text is good.",
    "params": "What a run is opened with, by name: a help text, or what is valid.",
    "lists": "Named lists, for use as $name in other lists.",
    "closing": "What is to be done once the run is at its end.",
    "reverify": "The step at which a reviewer begins that verifies the items of an earlier review again.",
    "policy": "A YAML file beside the script: when tools may be called during the run.",
    "always": "Properties of all paths, which validation proves.",
    "ends": "Whether an end by a word of the workflow's own is a pass or a fail.",
    "draft": "true marks a draft of `lockstep adopt`: no workflow until a person accepts it.",
    "steps": "The steps by id, in their order; the first is the start.",
    "do": "What the step says, in place of the section of workflow.md.",
    "repeat": "What it says from the second entry on.",
    "forbidden": "What is to be left alone.",
    "needs": "What is shown: step.field, or a parameter of the run.",
    "requires": "What must be there to leave the step: fields, files, commands, in order.",
    "next": "Where each outcome leads; null and end are the end. Without it, OK leads to the following step.",
    "when": "When each outcome is the right one.",
    "outcomes": "Rules, tried in order: the first that holds says how the step ends. Or the outcomes of a handler.",
    "keep": "What is recorded besides, when the step is left.",
    "max_iterations": "The bound of a loop by iterate, fail or an own word.",
    "at_limit": "The outcome at that bound.",
    "tools": "What the agent may use; none named is all.",
    "allow": "Waived findings: the rule's name, and the reason.",
    "person": "A question that a person answers.",
    "gate": "The stop condition of a review loop: its checkpoint.",
    "dispatch": "Sub-agents to start on entering the step.",
    "handler": "FILE.py:FUNCTION in the skill's scripts folder.",
}


def schema() -> Schema:
    """The schema as data: JSON Schema 2020-12."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "workflow.yaml of a skill",
        "description": "docs/workflow-yaml.md of Lockstep says what each entry means.",
        **_object(keys.WORKFLOW, _WORKFLOW, required=("name", "steps")),
        "$defs": {
            "said": _said(),
            "field": _object(keys.FIELD, _SPEC),
            "requires": {"anyOf": [_TEXT, {"type": "array", "items": {"anyOf": [_TEXT, *_requirements()]}}]},
            "step": _step(),
        },
    }


def _object(names: tuple[str, ...], given: Schema, required: tuple[str, ...] = ()) -> Schema:
    """A mapping with these keys: a text each, unless ``given`` says what."""
    properties = {}
    for name in names:
        about = {"description": _ABOUT[name]} if name in _ABOUT else {}
        properties[name] = {**about, **given.get(name, _TEXT)}
    found: Schema = {"type": "object", "additionalProperties": False, "properties": properties}
    return found | ({"required": list(required)} if required else {})


def _map(values: Schema, pattern: str = "") -> Schema:
    """A mapping with any keys, or with those of a pattern."""
    found: Schema = {"type": "object", "additionalProperties": values}
    return found | ({"propertyNames": {"pattern": pattern}} if pattern else {})


def _said() -> Schema:
    named = [_object((kind,), {}, required=(kind,)) for kind in ("section", "resource")]
    named.append(_object(("convention", "section"), {}, required=("convention",)))
    return {"anyOf": [_TEXT, *named, {"type": "array", "items": {"anyOf": [_TEXT, *named]}}]}


def _requirements() -> list[Schema]:
    spoken_for = {"anyOf": [{"required": [name]} for name in ("file", "run", "field")]}
    about = {"anyOf": [_TEXT, {"$ref": "#/$defs/field"}]}
    one = {**_map(about, _NAME), "minProperties": 1, "maxProperties": 1, "not": spoken_for}
    named = _object(("field", *keys.FIELD), _SPEC, required=("field",))
    file = _object(keys.FILE, {"schema": {"type": "object"}}, required=("file",))
    return [one, named, file, _object(keys.RUN, _SPEC | {"run": _TEXTS}, required=("run",))]


def _step() -> Schema:
    found = _object(keys.STEP, _STEP)
    both = [{"required": list(pair)} for pair in combinations(_HANDLERS, 2)]
    rules = {"properties": {"outcomes": {"type": "object"}}, "required": ["outcomes"]}
    decided = {"anyOf": [{"required": [name]} for name in _HANDLERS if name != "dispatch"]}
    return {"anyOf": [{"type": "null"}, {**found, "not": {"anyOf": [*both, {"allOf": [rules, decided]}]}}]}


_SPEC: Schema = {
    "type": {"enum": list(TYPES)},
    "choices": _TEXTS,
    "default": {},
    "severity": {"enum": [str(word) for word in Severity]},
    **dict.fromkeys(keys.SWITCHES, _SWITCH),
    **{name: {"type": "integer" if whole else "number"} for name, whole in keys.NUMBERS.items()},
}
_SAID: Schema = {"$ref": "#/$defs/said"}
_REQUIRES: Schema = {"$ref": "#/$defs/requires"}
_AN_OUTCOME: Schema = {"type": "string", "pattern": _OUTCOME, "examples": _STANDARD}
_BY_OUTCOME: Schema = {"anyOf": [_TEXT, _map(_TEXT, _OUTCOME)]}
_TEMPLATE: Schema = {"anyOf": [_TEXT, {"type": "object"}]}
_COUNT: Schema = {"type": ["string", "integer"]}
_HOW: Schema = {
    "append": {"anyOf": [_TEMPLATE, {"type": "array", "items": _TEMPLATE}]},
    "take": _TEMPLATE,
    "of": {"enum": ["done", "lost", "all"]},
    "first": _COUNT,
    "cut": _COUNT,
}
_ONE_OF_TWO: Schema = {"oneOf": [{"required": ["append"]}, {"required": ["take"]}]}
_KEEP: Schema = _map({"anyOf": [_TEXT, {**_object(keys.KEEP, _HOW), **_ONE_OF_TWO}]})
_GATHER: Schema = _map({"anyOf": [_TEXT, _object(keys.GATHER, _HOW, required=("take",))]})
_CHECK: Schema = _object(keys.CHECK, _SPEC | {"over": _TEXTS}, required=keys.CHECK[:3])
_DISPATCH: Schema = {
    **_SPEC,
    "agent": {"enum": [str(word) for word in AgentRole]},
    "params": _map(_TEXT),
    "checks": {"type": "array", "items": _CHECK},
    "requires": _REQUIRES,
    "gather": _GATHER,
    **dict.fromkeys(("targets", "tasks", "covers"), _TEXTS),
    **dict.fromkeys(("task", "context"), _SAID),
}
_PERSON: Schema = _SPEC | {"choices": {"anyOf": [_TEXTS, _map(_AN_OUTCOME)]}}
_STEP: Schema = {
    **_SPEC,
    **dict.fromkeys(("do", "repeat", "forbidden"), _SAID),
    **dict.fromkeys(("needs", "tools"), _TEXTS),
    **dict.fromkeys(("next", "when"), _BY_OUTCOME),
    "requires": _REQUIRES,
    "outcomes": {
        "anyOf": [
            _map(_TEXT, _OUTCOME),
            {"type": "array", "items": _AN_OUTCOME},
            {"type": "array", "items": _map(_TEXT, _OUTCOME)},
        ]
    },
    "keep": _KEEP,
    "at_limit": _AN_OUTCOME,
    "allow": _map(_TEXT),
    "person": _object(keys.PERSON, _PERSON),
    "gate": {"anyOf": [{"type": "string"}, _object(keys.GATE, _SPEC, required=("checkpoint",))]},
    "dispatch": _object(keys.DISPATCH, _DISPATCH, required=("agent",)),
}
_ALWAYS: Schema = {"before": {"type": "array", "items": _TEXT, "minItems": 2, "maxItems": 2}}
_WORKFLOW: Schema = {
    "output": {"enum": ["xml", "text"]},
    "params": _map({"anyOf": [_TEXT, _object(keys.PARAM, _SPEC)]}, _NAME),
    "lists": _map(_TEXTS),
    "tools": _TEXTS,
    **dict.fromkeys(("forbidden", "closing"), _SAID),
    "always": {"type": "array", "items": _object(keys.ALWAYS, _ALWAYS)},
    "ends": _map({"enum": [str(word) for word in QRStatus]}, _OUTCOME),
    "draft": _SWITCH,
    "steps": _map({"$ref": "#/$defs/step"}),
}
