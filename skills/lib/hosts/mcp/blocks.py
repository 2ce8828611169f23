"""The engine's documents for an MCP client: a command becomes a tool call, a flag an argument."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from skills.lib import files
from skills.lib.blocks import for_tools, parts
from skills.lib.blocks.command_line import CommandLine
from skills.lib.blocks.refused import flags_of, without_flags
from skills.lib.blocks.xml import COMMANDS
from skills.lib.engine import verdicts
from skills.lib.model.requirements import Arg, Field
from skills.lib.model.steps import Workflow
from skills.lib.model.types import Element
from skills.lib.runtime import Response, cli, record_flags

ARGUMENTS = (
    "In this session a command is a call of the server's tools. Where a text says --record or --record-file, give "
    "record, an object of the values by name; --step, --run, --turn, --outcome, --answer, --reason, --lost, --replace "
    "and --new are arguments of these names, --erratum is an entry of errata; any other --flag is an entry of "
    "parameters."
)
_FIELDS = "Give each field as an entry of record: a text of any length as it is, a list as a JSON array."
# How a step is left: flags of a command, and arguments of a call, of the same names.
REPORTS = ("outcome", "answer", "lost", "replace", "reason")
# The placeholder for a value of these types has no quotes.
_BARE = ("int", "float", "bool", "list", "json", "items", "statements", "answers")


class ToolCall(NamedTuple):
    """A tool and its arguments; a value that is to be filled in is ``FILL_name``."""

    tool: str
    arguments: dict[str, Any]

    def shown(self, types: Mapping[str, str] | None = None) -> str:
        """The call as a reader sees it; ``types`` are those of the fields and parameters to fill in."""
        words = [f"{name}={_shown(name, value, types or {})}" for name, value in self.arguments.items()]
        return f"{self.tool}({', '.join(words)})"


def tool_call(command: str, command_line: CommandLine, workflow: str) -> ToolCall | None:
    """The tool call for a command that a step script printed; None for any other text, and for another project's.

    ``workflow`` is the one that a command opens which names no run.
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    program = [*command_line.lockstep, "resume"]
    if words[: len(program)] == program and words[-2:] == ["--project", command_line.project]:
        return _call("run_state", run=words[len(program)])
    if len(words) < 2 or words[0] != command_line.python or not words[1].endswith(".py"):
        return None
    given: dict[str, str] = {}
    record: dict[str, str] = {}
    parameters: dict[str, str] = {}
    for flag, value in cli.read(words[2:]):
        if flag == "record":
            name, _, text = (value or "").partition("=")
            record[name] = text
        elif flag == "record-file":
            # A client hands over values, not files: what was too long to be given back is to be filled in.
            with suppress(OSError, ValueError):
                record |= {
                    name: f"FILL_{name}" for name in json.loads(files.read(value or "", record_flags.FILE_LIMIT))
                }
        elif flag in ("step", "run", "turn", "project", "new", *REPORTS):
            given[flag] = value or ""
        else:
            parameters[flag.replace("-", "_")] = value or ""
    if given.pop("project", None) != command_line.project:
        return None
    if "run" not in given:
        return _call("start_run", skill=workflow, parameters=parameters, new="new" in given)
    if given["step"] == "current" and len(given) == 2:
        return _call("run_state", run=given["run"])
    turn, reports = int(given.get("turn", 0)), {name: given.get(name) for name in REPORTS}
    return _call(
        "next_step", run=given["run"], turn=turn, step=given["step"], record=record, parameters=parameters, **reports
    )


def _call(tool: str, **arguments: Any) -> ToolCall:
    return ToolCall(tool, {name: value for name, value in arguments.items() if value})


def _shown(name: str, value: Any, types: Mapping[str, str]) -> str:
    if isinstance(value, dict):
        inner = [f"{json.dumps(key)}: {_shown(key, one, types)}" for key, one in value.items()]
        return "{" + ", ".join(inner) + "}"
    if types.get(name) in _BARE and value == f"FILL_{name}":
        return str(value)
    return json.dumps(value, ensure_ascii=False)


def for_client(element: Element, command_line: CommandLine, workflow: Workflow, step: str | None) -> Element:
    """The document with tool calls in place of commands, by the same grammar; the skill's own texts do not change.

    ``step`` is the current step, if there is a run.
    """
    asked: list[Arg | Field] = list(workflow.step_params(step) if step else workflow.run_params())
    if step and workflow.has(step):
        asked += [one for one in workflow.step(step).requires if isinstance(one, Field)]
    types = {one.name: one.type for one in asked}
    if element.tag == "refused":
        element = _without_flags(element, flags_of(workflow))
    inside = [_rewritten(child, command_line, workflow.name, types) for child in element.children]
    brief = any(child.tag == "BRIEF" for child in _elements(element))
    if element.tag == "step" and not brief:  # what a text may take from the command that is in NEXT elsewhere
        about = (
            "NEXT is a tool call here. Where a text speaks of it as a command: the Python that it takes is "
            f"{command_line.python}, its script {command_line.script}, its --project {command_line.project}."
        )
        inside.insert(1, parts.notice(about))
    if any(child.tag == "DISPATCH" for child in _elements(element)):
        inside.insert(2 if brief else 1, parts.notice(ARGUMENTS))
    return Element(element.tag, element.attributes, *inside, prose=element.prose)


def _rewritten(
    child: Element | str, command_line: CommandLine, workflow: str, types: Mapping[str, str]
) -> Element | str:
    """An element with tool calls in place of commands; ``types`` are those of the values that it asks for."""
    if isinstance(child, str):
        return child
    attributes = dict(child.attributes)
    if "flag" in attributes:
        name = attributes["name"]
        attributes["flag"] = f'parameters={{"{name}": …}}' if child.tag == "param" else f'outcome="{name}"'
    if child.tag == "file":
        return Element(child.tag, attributes, for_tools.writing(child, _FIELDS))
    if child.tag in COMMANDS:
        command, mark, about = _text(child).partition("  # ")
        call = tool_call(command, command_line, workflow)
        return Element(child.tag, attributes, call.shown(types) + mark + about) if call else child
    inside = [_rewritten(part, command_line, workflow, types) for part in child.children]
    return Element(child.tag, attributes, *inside, prose=child.prose)


def _without_flags(refused: Element, flags: set[str]) -> Element:
    """A refusal with the names of arguments in place of flags: in what was asked, why not, and what is valid."""
    inside = [
        Element(child.tag, child.attributes, without_flags(_text(child), flags))
        if child.tag in ("ASKED", "WHY") or (child.tag == "choice" and _text(child).startswith("--"))
        else _without_flags(child, flags)
        if child.tag == "VALID"
        else child
        for child in _elements(refused)
    ]
    return Element(refused.tag, refused.attributes, *inside, prose=refused.prose)


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
        step = workflow.step(run.step) if workflow and run.step and workflow.has(run.step) else None
        data |= {name: value for name in ("fresh", "model") if step and (value := getattr(step, name))}
    if response.refusal is not None:
        data |= {"code": response.refusal.code, "valid": {**response.refusal.valid}}
        data |= {"missing": [*response.refusal.missing]} if response.refusal.missing else {}
        by_name = {"faults": response.refusal.faults, "choices": response.refusal.choices}
        data |= {kind: {**found} for kind, found in by_name.items() if found}

    def call(command: Element) -> ToolCall | None:
        return tool_call(_text(command), command_line, workflow.name if workflow else "")

    for part in _elements(element):
        data |= _part(part, call)
    if element.tag == "step" and step is not None:
        ways = [{"name": str(name), "to": target or "done", "when": ""} for name, target in step.next.items()]
        data.setdefault("outcomes", ways)
    if response.refusal is not None:
        data["why"] = response.refusal.why
    return data


def _part(part: Element, call: Callable[[Element], ToolCall | None]) -> dict[str, Any]:
    """What a part of the document is for a program; ``call`` reads the tool call of a command."""
    children = _elements(part)
    match part.tag:
        case "NEXT":
            onward = call(part)
            return {"next": onward._asdict()} if onward else {}
        case "RECORD":
            kinds = {"record": "field", "parameters": "param"}
            specs = {name: [_spec(child) for child in children if child.tag == kind] for name, kind in kinds.items()}
            return {name: found for name, found in specs.items() if found}
        case "INVOKE_AFTER":
            ways = [{**_named(way, "name", "to"), "when": _text(way)} for way in children if way.tag == "outcome"]
            stale = [{**_named(way, "to"), "when": _text(way)} for way in children if way.tag == "stale"]
            return {"outcomes": ways, **({"stale": stale} if stale else {})}
        case "QUESTION":
            return {"question": {"text": _text(part), **_about(part.attributes)}}
        case "WHY":
            return {"why": _text(part)}
        case "RESULT":
            return {"result": {str(value.attributes["name"]): _text(value) for value in children}}
        case "NOT_DONE":
            return {"not_done": [{**_named(entry, "kind", "step"), "what": _text(entry)} for entry in children]}
        case "DISPATCH":
            return {"children": [_child(child, call) for child in children if child.tag == "child"]}
        case _:
            return {}


def _child(child: Element, call: Callable[[Element], ToolCall | None]) -> dict[str, Any]:
    calls = [found._asdict() for found in map(call, _elements(child)) if found]
    return _named(child, "id", "status", "target") | ({"call": calls[-1]} if calls else {})


def _spec(spec: Element) -> dict[str, Any]:
    is_required = spec.attributes.get("required") != "false"
    return {**_about(spec.attributes), "required": is_required, "help": _text(spec)}


def _about(attributes: Mapping[str, object]) -> dict[str, Any]:
    """Attributes as JSON values, without the flag of a command line."""
    found: dict[str, Any] = {name: value for name, value in attributes.items() if name != "flag"}
    if "choices" in found:
        found["choices"] = str(found["choices"]).split("|")
    return found


def _named(element: Element, *names: str) -> dict[str, Any]:
    return {name: str(element.attributes[name]) for name in names if name in element.attributes}


def _text(element: Element) -> str:
    return "".join(child for child in element.children if isinstance(child, str))


def _elements(element: Element) -> list[Element]:
    return [child for child in element.children if isinstance(child, Element)]
