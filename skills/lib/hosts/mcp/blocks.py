"""The engine's documents for an MCP client: a command becomes a tool call, a flag an argument."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skills.lib.blocks import parts
from skills.lib.blocks.command_line import CommandLine
from skills.lib.blocks.xml import COMMANDS
from skills.lib.engine import verdicts
from skills.lib.hosts.mcp import toolcalls
from skills.lib.model.requirements import Arg, Field
from skills.lib.model.steps import Workflow
from skills.lib.model.types import Element
from skills.lib.runtime import Response

ARGUMENTS = (
    "In this session a command is a call of the server's tools. Where a text says --record or --record-file, give "
    "record, an object of the values by name; --step, --run, --turn, --outcome, --answer, --reason, --lost, --replace "
    "and --new are arguments of these names, --erratum is an entry of errata; any other --flag is an entry of "
    "parameters."
)
_FIELDS = "Give each field as an entry of record: a text of any length as it is, a list as a JSON array."


def for_client(element: Element, command_line: CommandLine, workflow: Workflow, step: str | None) -> Element:
    """The document with tool calls in place of commands, by the same grammar; the skill's own texts do not change.

    ``step`` is the current step, if there is a run.
    """
    types = _types(workflow, step)
    inside = [_rewritten(child, command_line, workflow.name, types) for child in element.children]
    tags = [child.tag for child in element.children if isinstance(child, Element)]
    if element.tag == "step":
        inside.insert(1, parts.notice(_places(command_line)))
    if "DISPATCH" in tags:
        inside.insert(1, parts.notice(ARGUMENTS))
    return Element(element.tag, element.attributes, *inside, prose=element.prose)


def _places(command_line: CommandLine) -> str:
    """What a text of the skill may take from the command that is in NEXT elsewhere."""
    return (
        "NEXT is a tool call here. Where a text speaks of it as a command: the Python that it takes is "
        f"{command_line.python}, its script {command_line.script}, its --project {command_line.project}."
    )


def data_of(response: Response, command_line: CommandLine) -> dict[str, Any]:
    """The document of a response as data for a program: the state of the run, what to report, the call that goes on."""
    element, run, workflow = response.element, response.run, response.workflow
    data: dict[str, Any] = {"kind": element.tag}
    if workflow is not None:
        data["skill"] = workflow.name
    if run is not None:
        data |= {"run": run.id, "turn": run.turn, "step": run.step, "status": run.status}
        if "checkpoint" in run.spec:
            data["review"] = verdicts.mode(run.spec)
    if element.tag == "refused":
        data["code"] = element.attributes["code"]
    for part in element.children:
        if isinstance(part, Element):
            data |= _part(part, command_line, workflow.name if workflow else "")
    return data


def _part(part: Element, command_line: CommandLine, workflow: str) -> dict[str, Any]:
    children = [child for child in part.children if isinstance(child, Element)]
    if part.tag == "NEXT":
        call = toolcalls.read(_text(part), command_line, workflow)
        return {"next": {"tool": call.tool, "arguments": call.arguments}} if call else {}
    if part.tag == "RECORD":
        specs = {kind: [_spec(child) for child in children if child.tag == kind] for kind in ("field", "param")}
        return {name: found for name, found in (("record", specs["field"]), ("parameters", specs["param"])) if found}
    if part.tag == "INVOKE_AFTER":
        ways = [{**_named(way, "name", "to"), "when": _text(way)} for way in children if way.tag == "outcome"]
        stale = [{**_named(way, "to"), "when": _text(way)} for way in children if way.tag == "stale"]
        return {"outcomes": ways, **({"stale": stale} if stale else {})}
    if part.tag == "QUESTION":
        return {"question": {"text": _text(part), **_about(part.attributes)}}
    if part.tag == "WHY":
        return {"why": _text(part)}
    if part.tag == "RESULT":
        return {"result": {str(value.attributes["name"]): _text(value) for value in children}}
    if part.tag == "NOT_DONE":
        return {"not_done": [{**_named(entry, "kind", "step"), "what": _text(entry)} for entry in children]}
    if part.tag == "DISPATCH":
        return {"children": [_child(child, command_line, workflow) for child in children if child.tag == "child"]}
    return {}


def _child(child: Element, command_line: CommandLine, workflow: str) -> dict[str, Any]:
    data = _named(child, "id", "status", "target")
    for inner in child.children:
        call = toolcalls.read(_text(inner), command_line, workflow) if isinstance(inner, Element) else None
        if call:
            data["call"] = {"tool": call.tool, "arguments": call.arguments}
    return data


def _spec(spec: Element) -> dict[str, Any]:
    return {**_about(spec.attributes), "help": _text(spec)}


def _about(attributes: Mapping[str, object]) -> dict[str, Any]:
    """Attributes as JSON values, without the flag of a command line."""
    found: dict[str, Any] = {name: value for name, value in attributes.items() if name != "flag"}
    if "required" in found:
        found["required"] = found["required"] == "true"
    if "choices" in found:
        found["choices"] = str(found["choices"]).split("|")
    return found


def _named(element: Element, *names: str) -> dict[str, Any]:
    return {name: str(element.attributes[name]) for name in names if name in element.attributes}


def _text(element: Element) -> str:
    return "".join(child for child in element.children if isinstance(child, str))


def _types(workflow: Workflow, step: str | None) -> dict[str, str]:
    """The types of the values that leaving a step asks for, or that opening a run does."""
    asked: list[Arg | Field] = list(workflow.step_params(step) if step else workflow.run_params())
    if step and workflow.has(step):
        asked += [one for one in workflow.step(step).requires if isinstance(one, Field)]
    return {one.name: one.type for one in asked}


def _rewritten(
    child: Element | str, command_line: CommandLine, workflow: str, types: Mapping[str, str]
) -> Element | str:
    if isinstance(child, str):
        return child
    attributes = dict(child.attributes)
    if "flag" in attributes:
        name = attributes["name"]
        attributes["flag"] = f'parameters={{"{name}": …}}' if child.tag == "param" else f'outcome="{name}"'
    if child.tag == "file":
        return Element(child.tag, attributes, _FIELDS)
    if child.tag == "WHY" and "--" in _text(child):
        return Element(child.tag, attributes, f"{_text(child)} ({ARGUMENTS})")
    if child.tag in COMMANDS:
        call = toolcalls.read(_text(child), command_line, workflow)
        return Element(child.tag, attributes, call.shown(types)) if call else child
    inside = [_rewritten(part, command_line, workflow, types) for part in child.children]
    return Element(child.tag, attributes, *inside, prose=child.prose)
