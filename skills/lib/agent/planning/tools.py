"""The tools of an execution: the command gateway's, and nothing else."""

from __future__ import annotations

import ast
import os

from skills.lib import files
from skills.lib.agent.tools.tool import Result, Tool
from skills.lib.gateway import Gateway, GatewayResult
from skills.lib.runtime.plans import EXECUTOR, RUNNER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# The commands by which an evaluator looks: it changes nothing by them.
READING = ("list_files", "read_file", "tree")
# Scripts that write what they are given, with what each takes: none of an evaluator's.
WRITING = {
    "write_file.py": "writes stdin_text as it is; args: PATH",
    "write_json.py": "writes a JSON value; args: PATH, JSON",
    "write_txt.py": "writes lines; args: PATH, LINE, LINE, …",
    "write_md.py": "writes Markdown blocks, a blank line between them; args: PATH, BLOCK, BLOCK, …",
}
# How many scripts a planner is shown, and how many bytes of each are read.
_MOST, _READ = 60, 200_000
_VALUES = {"type": "object", "additionalProperties": True}


def gateway_tools(project: str) -> list[Tool]:
    """``safe_cli_executor`` and ``safe_py_runner`` of a project."""

    def execute(command: str, params: Mapping[str, Any] | None = None) -> Result:
        return _result(Gateway(project).run(command, params or {}))

    def run(
        script: str,
        args: list[str] | None = None,
        env_vars: dict[str, str] | None = None,
        stdin_text: str | None = None,
    ) -> Result:
        return _result(Gateway(project).run_python(script, args or (), env_vars, stdin_text))

    text = {"type": "string"}
    return [
        Tool(
            EXECUTOR,
            f"Run a named command of the gateway; each value is checked, and there is no shell.\n{commands(project)}",
            {
                "command": {**text, "description": "The name of the command."},
                "params": {**_VALUES, "description": "Its parameters by name: texts, or lists of texts."},
            },
            ("command",),
            execute,
        ),
        Tool(
            RUNNER,
            "Run a Python script below scripts/ or skills/SKILL/. Every file is written by scripts/write_file.py PATH, "
            "which takes the content from stdin_text; write_json.py, write_txt.py and write_md.py take it from args.",
            {
                "script": {**text, "description": "The path of the script, such as scripts/write_file.py."},
                "args": {"type": "array", "items": text, "description": "Its arguments."},
                "env_vars": {**_VALUES, "description": "Variables that the gateway lists, as texts by name."},
                "stdin_text": {**text, "description": "What the script reads from standard input."},
            },
            ("script",),
            run,
        ),
    ]


def commands(project: str) -> str:
    """The commands of a project's gateway, one a line, with their parameters."""
    found = []
    for command in Gateway(project).file.commands.values():
        params = [
            f"[{one.name}]" if one.optional or one.default is not None else one.name
            for one in command.parameters.values()
        ]
        found.append(f"- {command.name}({', '.join(params)}): {command.about}")
    return "\n".join(found)


def scripts(project: str) -> str:
    """The Python scripts that the runner takes, one a line, with the first line of what each says of itself."""
    found = [f"- scripts/{name}: {about}" for name, about in WRITING.items()]
    for top in ("scripts", "skills"):
        for folder, below, names in os.walk(os.path.join(project, top)):
            below[:] = sorted(name for name in below if not name.startswith((".", "__")) and name != "tmp")
            paths = [os.path.join(folder, name) for name in sorted(names) if name.endswith(".py")]
            found += [f"- {os.path.relpath(path, project).replace(os.sep, '/')}{_about(path)}" for path in paths]
    shown = found[:_MOST]
    return "\n".join([*shown, *([f"and {len(found) - _MOST} more"] if len(found) > _MOST else [])])


def why_not_evaluator(tool: str, arguments: Mapping[str, Any]) -> str:
    """Why an evaluator does not make a call, as it would change what it judges; "" if it may."""
    command = str(arguments.get("command", ""))
    if tool == EXECUTOR and command not in READING:
        return f"an evaluator looks, and {command!r:.60} may change something. It has: {', '.join(READING)}"
    script = os.path.basename(str(arguments.get("script", "")).replace("\\", "/"))
    if tool == RUNNER and script in WRITING:
        return f"an evaluator writes no files, and {script} does"
    return ""


def _about(path: str) -> str:
    """The first line of a module's docstring, with what leads to it; "" if it has none."""
    try:
        about = ast.get_docstring(ast.parse(files.read(path, _READ)))
    except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        return ""
    return f": {about.splitlines()[0][:200]}" if about else ""


def _result(ended: GatewayResult) -> Result:
    """What a model reads of a command: its output and how it ended."""
    return Result(ended.text(), {"exit": ended.exit, "command": ended.command})
