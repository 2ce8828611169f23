"""A workflow in Python written as workflow.yaml: JSON is YAML, too."""

from __future__ import annotations

import json
from typing import Any

from skills.lib.model.steps import Workflow


def as_yaml(workflow: Workflow, steps: dict[str, dict[str, Any]]) -> str:
    """The workflow in the form of docs/workflow-yaml.md, with these entries in place of the functions of its steps."""
    data = workflow.to_data()
    given = {name: data[name] for name in ("name", "title", "description", "start", "output") if data[name]}
    given |= {name: data[name] for name in ("closing", "tools", "forbidden", "unchecked", "policy") if name in data}
    given["params"] = {one["name"]: _without(one, "name") for one in data["params"]}
    given["steps"] = {step["id"]: _step(step, steps.get(step["id"], {})) for step in data["steps"]}
    return json.dumps(given, ensure_ascii=False)


def _step(data: dict[str, Any], instead: dict[str, Any]) -> dict[str, Any]:
    found = _without(data, "id", "handler", "requires", "actions", "at_limit")
    found["do"] = data["actions"]
    found["next"] = {outcome: target or "end" for outcome, target in data["next"].items()}
    if data.get("requires"):
        found["requires"] = [_requirement(one) for one in data["requires"]]
    if "max_iterations" in data:
        found["at_limit"] = data["at_limit"]
    handler = data.get("handler", {})
    if handler.get("$kind") == "Dispatch":
        found["dispatch"] = _without(handler, "then") | (
            {"requires": handler["requires"]} if "requires" in handler else {}
        )
    for key, value in instead.items():
        found[key] = found[key] | value if key == "dispatch" else value
    return found


def _requirement(data: dict[str, Any]) -> dict[str, Any]:
    rest = _without(data, "name", "path", "argv")
    if data["$kind"] == "Field":
        return {"field": data["name"], **rest}
    return {"file": data["path"], **rest} if data["$kind"] == "Artifact" else {"run": data["argv"], **rest}


def _without(data: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name not in (*names, "$kind") and value is not None}
