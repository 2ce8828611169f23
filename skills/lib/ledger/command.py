"""Runs a command as evidence, and keeps what a reader needs to judge it: the program, its surroundings, its output."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile

from skills.lib import paths
from skills.lib.errors import tell
from skills.lib.ledger import worktree
from skills.lib.workflow import values
from skills.lib.workflow.requirements import Command, fill, number
from skills.lib.workflow.texts import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import IO, Any

# How much of a command's output is kept with the run: its last lines, where the cause usually stands.
TAIL = 1_500
# How much of the output is read for that, in bytes: colour codes go, and a character has up to four.
_READ = 8 * TAIL
# How much of one argument is shown: a recorded value is kept whole with the run, and need not be told again.
SHOWN = 80
# These ask for colours although the output is no terminal.
_COLOURING = ("FORCE_COLOR", "CLICOLOR_FORCE", "PY_COLORS")
# Escape sequences of ECMA-48: control sequences, strings up to their end, and the short ones.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\|\x1b[ -/]*[0-~]"
)


def run(
    command: Command, fields: Mapping[str, Any], project: str, scripts: str, opening: Mapping[str, str]
) -> dict[str, Any]:
    """Run a command in the project and return the evidence; ``opening`` has the search paths that the run opened with.

    Beside what every piece of evidence has: ``exit``, the last lines of the ``output``, the ``program`` that was found,
    ``search_paths`` if they are others than at the opening, and ``removed_tests``, if the working tree lacks any.
    """
    argv = [fill(part, fields) for part in command.argv]
    # What is told is kept with the run, and a secret is not.
    safe = [fill(part, values.keepable(dict(fields))) for part in command.argv]
    shown = " ".join(part if len(part) <= SHOWN else part[: SHOWN - 1] + "…" for part in safe)
    program = safe[0]
    if command.argv[0].endswith(".py") and os.path.basename(command.argv[0]) == command.argv[0]:
        program = sys.executable
        argv = [sys.executable, os.path.join(scripts, argv[0]), *argv[1:]]
    result: dict[str, Any] = {"kind": "command", "what": shown, "ok": False, "exit": None, "output": ""}
    result["program"] = printable(_program(program, project))
    now = paths.search_paths()
    changed = {name: path for name, path in now.items() if opening and path != opening.get(name)}
    if changed:
        result["search_paths"] = changed
    tell(f"lockstep: running {shown} (at most {number(command.timeout)} s)\n")
    environment = {name: value for name, value in os.environ.items() if name not in _COLOURING}
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                argv,
                cwd=project,
                env={**environment, "NO_COLOR": "1"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return {**result, "why": f"{shown} cannot be run: {error}"}
        try:
            code: int | None = process.wait(command.timeout)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end_group(process)
        tail = _last_lines(output, fields)
    removed = worktree.removed_tests(project)
    if removed:
        result["removed_tests"] = [printable(path) for path in removed]
    result.update(exit=code, output=tail)
    if code == 0:
        return {**result, "ok": True, "why": ""}
    how = f"did not end within {number(command.timeout)} s" if code is None else f"ended with {code}, not 0"
    told = f"Its output ends:\n{tail}" if tail.strip() else "It printed nothing."
    return {**result, "why": f"{shown} {how}. {told}"}


def _program(name: str, project: str) -> str:
    """The file that is run for the first word of a command: one of that path, or the first of that name on PATH."""
    if os.path.dirname(name):
        return os.path.normpath(os.path.join(project, name))
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.normpath(os.path.join(project, folder, name))
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ""


def _last_lines(output: IO[bytes], fields: Mapping[str, Any]) -> str:
    """The last lines of the output, whole unless one alone is too long, without escape sequences and secrets."""
    begin = max(0, output.seek(0, 2) - _READ)
    output.seek(begin)
    text = output.read().decode("utf-8", "replace")
    # A line of progress is written over: a terminal shows what stands behind its last carriage return.
    lines = [line.rstrip("\r").rpartition("\r")[2] for line in _ESCAPES.sub("", text).split("\n")]
    text = printable("\n".join(lines))
    for name, value in fields.items():
        if isinstance(value, str) and values.is_secret(name):
            text = text.replace(value, values.NOT_KEPT)
    if begin == 0 and len(text) <= TAIL:
        return text
    # What comes before the first line end is the rest of a line that is not shown from its beginning.
    whole = text[-TAIL - 1 :].partition("\n")[2]
    return whole if whole.strip() else text[-TAIL:]


def _end_group(process: Any) -> None:
    """Kill what the command left running; nobody else is in its process group."""
    import signal

    try:
        if os.name == "nt":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()
