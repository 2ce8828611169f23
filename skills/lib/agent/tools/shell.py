"""The tool ``shell``: programs run by their argument lists, without a shell, in the project and within limits."""

from __future__ import annotations

import contextlib
import json
import os
import sys

from skills.lib.agent.tools import command_lines, outputs, supervisor
from skills.lib.agent.tools.command_lines import READ, SAME, Part
from skills.lib.agent.tools.tool import Result, Tool
from skills.lib.errors import EnvironmentProblem, RefusedError, UsageError, did_you_mean, nearest
from skills.lib.gateway import GatewayResult, processes, strays, variables
from skills.lib.gateway.specs import Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from skills.lib.agent.configuration.lockstep_toml import Shell
    from skills.lib.agent.tools.workspace import Workspace

# Of each stream so many bytes are kept. Each program has so many seconds of a processor and bytes of memory; so many
# processes may run beside what a user has at the start (not for root).
LIMITS = Limits(seconds=120, output=20_000, cpu=600, memory=4_000_000_000, processes=1_000)
# What a call may ask for (seconds).
LONGEST = 600
# A longer word of a command is no name of a file; how much longer or shorter a program's name is that was meant.
LONGEST_NAME, _NEAR = 200, 2
_INTERPRETERS = {".py": "python", ".sh": "sh", ".js": "node"}
# By this a command of Lockstep knows that an agent runs it, and leaves to people what is theirs.
_AGENT = {"LOCKSTEP_AGENT": "1"}


def limits_of(configured: Shell | None, seconds: float, output: int) -> Limits:
    """The limits of a command: so many seconds and bytes of output, and what the settings say of its programs."""
    own = {name: getattr(configured or LIMITS, name) for name in ("cpu", "memory", "processes")}
    return Limits(seconds, output, **own)


def tool(files: Workspace, configured: Shell | None = None, inherit: Sequence[str] = ()) -> Tool:
    """The tool ``shell`` of a workspace, as the settings say.

    ``inherit`` names more variables of the session that its programs get.
    """
    sandbox = configured.sandbox if configured else ()

    def shell(command: str, timeout: int = 0, *, stopped: Callable[[], bool]) -> Result:
        given = limits_of(configured, timeout or LIMITS.seconds, LIMITS.output)
        before = outputs.snapshot(files.project)
        result = run(files, command, given, inherit, stopped, sandbox)
        made = outputs.made(before, outputs.snapshot(files.project) if before is not None else None)
        notes = f"[{outputs.sentence(made)}]\n" if made else ""
        if result.exit is None and given.seconds < LONGEST:
            notes += f"[give it longer: timeout={LONGEST} is the most]\n"
        if result.exit not in (0, None):
            notes += _hint(files, command_lines.read_line(command, files.project))
        data = {"exit": result.exit, "output": result.output, "errors": result.errors}
        return Result(result.text() + notes, {**data, "made": made[: outputs.RECORDED]} if made else data)

    return Tool(
        name="shell",
        about=(
            "Run a command in the project: a program with its arguments, or several joined by |. There is no shell: "
            "no &&, ; or $(…), no variables. Files may be redirected (<, >, >>, 2>&1)."
        ),
        parameters={
            "command": {"type": "string", "minLength": 1, "description": "The command line."},
            "timeout": {
                "type": "integer",
                "minimum": 1,
                "maximum": LONGEST,
                "description": f"After so many seconds it is ended; default {LIMITS.seconds:.0f}.",
            },
        },
        required=("command",),
        run=shell,
        is_long=True,
    )


def run(
    files: Workspace,
    command: str,
    limits: Limits,
    inherit: Sequence[str],
    stopped: Callable[[], bool],
    sandbox: Sequence[str] = (),
) -> GatewayResult:
    """Run a command line. Raises UsageError for what only a shell could run, EnvironmentProblem if it is stopped."""
    parts = command_lines.read_line(command, files.project)
    about = {
        "caller": os.getpid(),
        "strays": str(strays.__file__),
        "parts": [_prepared(files, part, sandbox) for part in parts],
    }
    environment = variables.environment(inherit, _AGENT, {}, processes.search_path(files.project, own=True))
    ended = processes.run(
        [sys.executable, "-I", "-S", str(supervisor.__file__)],
        files.project,
        environment,
        limits,
        json.dumps(about).encode(),
        files.project,
        stopped,
    )
    if ended.exit is None and stopped():
        raise EnvironmentProblem("the command was ended: the session was stopped", remedy="look at what it did so far")
    return GatewayResult.of("shell", parts[0].argv, ended)


def _prepared(files: Workspace, part: Part, sandbox: Sequence[str]) -> dict[str, Any]:
    """A program with its path, and its redirections with resolved paths."""
    redirections = [
        (one.descriptor, one.kind, one.target if one.kind == SAME else _file(files, one.kind, one.target))
        for one in part.redirections
    ]
    program = _program(files, part.argv[0])
    if sandbox:
        words = [*sandbox, program, *part.argv[1:]]
        return {"argv": words, "program": _program(files, words[0]), "redirections": redirections}
    return {"argv": list(part.argv), "program": program, "redirections": redirections}


def _file(files: Workspace, kind: str, target: str) -> str:
    if target == os.devnull:
        return target
    return files.to_read(target) if kind == READ else files.to_write(target)


def _program(files: Workspace, name: str) -> str:
    """The path of a program. Raises UsageError for what only a shell does, and EnvironmentProblem if there is none."""
    try:
        return processes.program(name, files.project, processes.search_path(files.project, own=True))
    except EnvironmentProblem:
        if name in command_lines.BUILTINS:
            raise UsageError(
                f"{name} is of a shell, and no shell runs this command", remedy=command_lines.BUILTINS[name]
            ) from None
        raise _no_program(files, name) from None


def _no_program(files: Workspace, name: str) -> EnvironmentProblem:
    """What is said of a program that is not there: how a script of the project is run, or the nearest name."""
    script = os.path.join(files.project, name)
    interpreter = _INTERPRETERS.get(os.path.splitext(name)[1], "")
    if interpreter and os.path.isfile(script):
        return EnvironmentProblem(f"{name:.200} is a script, and no program", remedy=f"`{interpreter} {name:.200}`")
    if "/" in name:
        return EnvironmentProblem(f"there is no program {name:.200} in the project", remedy="find it by search")
    near = did_you_mean(nearest(name, _programs(files, name)))
    return EnvironmentProblem(
        f"there is no program {name:.200} on PATH{near}",
        remedy="use another program or tool for the same; a script of the skill may do it",
    )


def _programs(files: Workspace, name: str) -> list[str]:
    """The names in the folders of PATH that begin as this one does and are about as long."""
    found: set[str] = set()
    for folder in processes.search_path(files.project, own=True):
        with contextlib.suppress(OSError):
            found.update(os.listdir(folder))
    return sorted(one for one in found if one[0] == name[:1] and abs(len(one) - len(name)) <= _NEAR)


def _hint(files: Workspace, parts: Sequence[Part]) -> str:
    """The file that was probably meant by a word of a command that failed; empty if none is near."""
    for word in [word for part in parts for word in part.argv[1:]]:
        folder, name = os.path.split(os.path.join(files.project, word))
        if name and word[0] != "-" and len(word) <= LONGEST_NAME and not os.path.lexists(os.path.join(folder, name)):
            with contextlib.suppress(OSError, RefusedError, ValueError):
                files.places.resolve(word, READ, [files.project])
                if near := nearest(name, os.listdir(folder)):
                    return f"[there is no {word!r}; did you mean {os.path.join(os.path.dirname(word), near)}?]\n"
    return ""
