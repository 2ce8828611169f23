"""The tools: what each is for, what it takes, and the request that a call of it makes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mcp.types import Tool, ToolAnnotations

from skills.lib.errors import UsageError

_NAME = {"type": "string", "minLength": 1}
_VALUES = {"type": "object", "additionalProperties": True}
_RUN = {**_NAME, "description": "The id of the run, as its block says."}


def _schema(required: tuple[str, ...] = (), **properties: Mapping[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": list(required)} if required else schema


def _text(description: str) -> dict[str, str]:
    return {"type": "string", "description": description}


# Said with each tool of a run: clients show it before any block is seen.
_FOLLOW = (
    "The result is a block: do what it says, then call what stands in its NEXT, with each FILL_ value put in. A "
    "refused call changes nothing and says the way on."
)
TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            name="list_skills",
            title="List skills",
            description="The skills of this project: what each is for, and with which parameters a run of it begins.",
            input_schema=_schema(),
            output_schema={"type": "object", "properties": {"skills": {"type": "array"}}, "required": ["skills"]},
            annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
        ),
        Tool(
            name="start_run",
            title="Start a run",
            description=f"Begin a skill, in place of the script that its SKILL.md names. {_FOLLOW}",
            input_schema=_schema(
                ("skill",),
                skill={**_NAME, "description": "The name of the skill, or of one of its workflows."},
                parameters={**_VALUES, "description": "The run's parameters by name; list_skills says which."},
                new={
                    "type": "boolean",
                    "description": "Open another run although one with the same parameters is open.",
                },
            ),
            annotations=ToolAnnotations(destructive_hint=False, idempotent_hint=True, open_world_hint=False),
        ),
        Tool(
            name="next_step",
            title="Report a step and get the next",
            description=(
                f"Report the present step of a run and go on. The same call again gives the same block. {_FOLLOW}"
            ),
            input_schema=_schema(
                ("run",),
                run=_RUN,
                turn={"type": "integer", "minimum": 0, "description": "The turn that the call is for, as NEXT says."},
                step=_text("The step to go to, as NEXT says; next is the one that the outcome leads to."),
                record={**_VALUES, "description": "What the block's RECORD asks for, by the names of its fields."},
                parameters={**_VALUES, "description": "The parameters that RECORD asks for."},
                errata={**_VALUES, "description": "What proved wrong with a value, by step.field."},
                outcome=_text("How the step ended, where the block asks for it."),
                answer=_text("What the user answered, word for word, where the run waits for an answer."),
                lost=_text("The id of a sub-agent to give up, with a reason."),
                replace=_text("The id of a sub-agent in whose place another is started."),
                reason=_text("Why a sub-agent is given up, or why an answer was given."),
            ),
            annotations=ToolAnnotations(destructive_hint=False, idempotent_hint=True, open_world_hint=False),
        ),
        Tool(
            name="run_state",
            title="Show where a run stands",
            description=(
                "The present block of a run again; nothing changes. Without a run: the open runs of this project. "
                f"{_FOLLOW}"
            ),
            input_schema=_schema(run=_RUN),
            annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
        ),
    )
}
# Offered with `lockstep mcp --gateway` alone.
GATEWAY_TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            name="safe_cli_executor",
            title="Run a named command",
            description="Run a named command of the gateway; each value is checked, and there is no shell.",
            input_schema=_schema(
                ("command",),
                command={**_NAME, "description": "The name of the command."},
                params={**_VALUES, "description": "Its parameters by name: texts, or lists of texts."},
            ),
            annotations=ToolAnnotations(destructive_hint=True, open_world_hint=False),
        ),
        Tool(
            name="safe_py_runner",
            title="Run a Python script",
            description=(
                "Run a Python script below scripts/ or skills/SKILL/. Write files with scripts/write_file.py PATH, "
                "which takes the content from stdin_text; scripts/write_json.py, write_txt.py and write_md.py take "
                "it from args."
            ),
            input_schema=_schema(
                ("script",),
                script={**_NAME, "description": "The path of the script, such as scripts/write_file.py."},
                args={"type": "array", "items": {"type": "string"}, "description": "Its arguments."},
                env_vars={**_VALUES, "description": "Variables that the gateway lists, as texts by name."},
                stdin_text=_text("What the script reads from standard input."),
            ),
            annotations=ToolAnnotations(destructive_hint=True, open_world_hint=False),
        ),
    )
}
_KINDS: dict[str, tuple[type, str]] = {
    "array": (list, 'a list such as ["text"]'),
    "string": (str, "a text"),
    "boolean": (bool, "true or false"),
    "integer": (int, "a whole number"),
    "object": (dict, 'an object such as {"name": "value"}'),
}


def checked(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call, those that are null left out; UsageError for one that the tool does not take."""
    schema = {**TOOLS, **GATEWAY_TOOLS}[tool].input_schema
    properties: dict[str, dict[str, Any]] = schema["properties"]
    given = {name: value for name, value in arguments.items() if value is not None}
    for name, value in given.items():
        if name not in properties:
            valid = ", ".join(properties) or "none"
            remedy = "what a block asks to record goes into record, or parameters" if "record" in properties else ""
            raise UsageError(f"{tool} has no argument {name!r:.80}", valid=valid, remedy=remedy)
        kind, words = _KINDS[properties[name]["type"]]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise UsageError(f"{tool}: {name} is {words}, not {value!r:.80}")
        if isinstance(value, str) and properties[name].get("minLength") and not value.strip():
            raise UsageError(f"{tool}: {name} is empty")
    for name in schema.get("required", ()):
        if name not in given:
            raise UsageError(f"{tool}: {name} is missing", valid=properties[name]["description"])
    return given
