"""A model at the other end of a wire that does what the block of problem-analysis says."""

from __future__ import annotations

import json
from typing import Any

from skills.lib.testing.samples import any_of
from tests.agent.wires.protocols import Said
from tests.agent.wires.servers import Asked
from tests.skills.samples.problem_analysis import VALUES

# Each step once, in the order of the workflow.
STEPS = ["gate", "hypothesize", "investigate", "formulate", "report"]
_CHOICES = {"verdict": "testable", "question": "none", "confidence": "certain", "next_check": "none"}


def step_of(asked: Asked) -> str:
    """The step whose block a request has."""
    system = asked.body.get("system") or asked.body["messages"][0]["content"]
    text = system if isinstance(system, str) else "".join(part["text"] for part in system)
    return text.partition("<mandatory-skill")[2].partition(' id="')[2].partition('"')[0]


def reporting(asked: Asked) -> Said:
    """The report of the step in the request's block, by the schema that is offered with it."""
    step = step_of(asked)
    schema = next(schema for name, schema in _offered(asked) if name == "report_step")
    arguments: dict[str, Any] = {}
    for name, part in schema["properties"].items():
        if "properties" in part:
            arguments[name] = {field: _value(step, field, spec) for field, spec in part["properties"].items()}
    if "outcome" in schema["properties"]:
        arguments["outcome"] = schema["properties"]["outcome"]["enum"][0]
    call = (f"call_{len(asked.body['messages'])}", "report_step", json.dumps(arguments))
    return Said(f"I report {step}.", (call,))


def _offered(asked: Asked) -> list[tuple[str, dict[str, Any]]]:
    """The tools of a request with their schemas."""
    tools = [tool.get("function", tool) for tool in asked.body["tools"]]
    return [(tool["name"], tool.get("parameters") or tool["input_schema"]) for tool in tools]


def _value(step: str, field: str, spec: dict[str, Any]) -> Any:
    value = VALUES.get(f"{step}.{field}", _CHOICES.get(field))
    if value is not None:
        return value[0] if isinstance(value, any_of) else value
    return spec["enum"][0] if "enum" in spec else f"{field} as it was seen"
