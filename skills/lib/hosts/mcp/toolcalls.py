"""Turns a printed command of a step script into the call of a tool with the same arguments, for an MCP client."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

from skills.lib.blocks.command_line import CommandLine

_ARGUMENTS = ("outcome", "answer", "lost", "replace", "reason")
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


def read(command: str, command_line: CommandLine, workflow: str) -> ToolCall | None:
    """The tool call for a command that a step script printed; None for any other text, and for another project's.

    ``workflow`` is the one that a command opens which names no run.
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    if len(words) < 2 or words[0] != command_line.python or not words[1].endswith(".py"):
        return None
    given, record, parameters = _flags(words[2:])
    if given.pop("project", None) != command_line.project:
        return None
    if "run" not in given:
        arguments = {"skill": workflow, "parameters": parameters, "new": given.get("new")}
        return ToolCall("start_run", {name: value for name, value in arguments.items() if value})
    if given.get("step") == "current" and len(given) == 2:
        return ToolCall("run_state", {"run": given["run"]})
    arguments = {"run": given["run"]}
    if "turn" in given:
        arguments["turn"] = int(given["turn"])
    arguments |= {"step": given["step"], "record": record, "parameters": parameters}
    arguments |= {name: given.get(name) for name in _ARGUMENTS}
    return ToolCall("next_step", {name: value for name, value in arguments.items() if value})


def _flags(words: list[str]) -> tuple[dict[str, Any], dict[str, str], dict[str, str]]:
    """The flags of every step script, what is recorded, and the parameters of the workflow."""
    given: dict[str, Any] = {}
    record: dict[str, str] = {}
    parameters: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        flag = word[2:]
        if flag == "new":
            given["new"] = True
        elif flag == "record":
            name, _, value = next(rest, "").partition("=")
            record[name] = value
        elif flag == "record-file":
            # A client hands over values, not files: what was too long to be given back is to be filled in.
            record |= {name: f"FILL_{name}" for name in _names_in(next(rest, ""))}
        elif flag in ("step", "run", "turn", "project", *_ARGUMENTS):
            given[flag] = next(rest, "")
        else:
            parameters[flag.replace("-", "_")] = next(rest, "")
    return given, record, parameters


def _names_in(file: str) -> list[str]:
    """The names of the values in a record file that Lockstep wrote."""
    try:
        with open(file, encoding="utf-8") as opened:
            return list(json.load(opened))
    except (OSError, ValueError):
        return []


def _shown(name: str, value: Any, types: Mapping[str, str]) -> str:
    if isinstance(value, dict):
        inner = [f"{json.dumps(key)}: {_shown(key, one, types)}" for key, one in value.items()]
        return "{" + ", ".join(inner) + "}"
    if types.get(name) in _BARE and value == f"FILL_{name}":
        return str(value)
    return json.dumps(value, ensure_ascii=False)
