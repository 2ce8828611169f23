"""Looks at the evidence itself: a file in the project, a command's exit. A claim is not evidence."""

from __future__ import annotations

import os

from skills.lib import compact_json, paths
from skills.lib.errors import SkillError, UsageError, tell
from skills.lib.workflow import values
from skills.lib.workflow.requirements import Artifact, Command, fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

ARTIFACT_LIMIT = 10_000_000
# How much of a command's output is kept with the run: its last part, where the cause usually stands.
TAIL = 1_500
# How many places that do not meet a schema are named.
VIOLATIONS = 5
# How much of one argument is shown: a recorded value is kept whole with the run, and need not be told again.
SHOWN = 80


def check(
    requirement: Artifact | Command, fields: Mapping[str, Any], project: str, scripts: str = ""
) -> dict[str, Any]:
    """Look at a file or run a command in the project: ``ok``, ``what`` was looked at, ``why`` it is not enough.

    ``scripts`` is the folder of the skill's entry script, where a command's bare ``name.py`` is found.
    """
    if isinstance(requirement, Artifact):
        return _artifact(requirement, fields, project)
    return _command(requirement, fields, project, scripts)


def _artifact(artifact: Artifact, fields: Mapping[str, Any], project: str) -> dict[str, Any]:
    path = fill(artifact.path, fields)
    result = {"kind": "artifact", "what": path, "ok": False, "why": ""}
    try:
        resolved = paths.within(project, path)
    except (UsageError, ValueError) as error:
        return {**result, "why": f"{error}; give a path under the project"}
    if not os.path.isfile(resolved):
        return {**result, "why": f"{path} is not a file under the project {project}; write it first."}
    size = os.path.getsize(resolved)
    if size == 0:
        return {**result, "why": f"{path} is empty."}
    if size > ARTIFACT_LIMIT:
        return {**result, "why": f"{path} has {size:,} bytes, at most {ARTIFACT_LIMIT:,} are looked at."}
    if artifact.schema is not None:
        fault = _schema_fault(resolved, artifact.schema)
        if fault:
            return {**result, "why": f"{path}: {fault}"}
    return {**result, "ok": True, "bytes": size}


def _schema_fault(path: str, schema: Mapping[str, Any]) -> str:
    from skills.lib import schema as schemas

    wrong = schemas.problems(schema)
    if wrong:
        what = f"the JSON Schema of {os.path.basename(path)} cannot be used: {wrong[0]}"
        raise SkillError(what, remedy="fix the schema of the Artifact; the run waits")
    try:
        with open(path, encoding="utf-8-sig") as file:
            content = compact_json.loads(file.read(), strict=True)
    except (OSError, ValueError) as error:
        return f"not JSON: {error}"
    found = [f"{one!s:.500}" for one in schemas.violations(schema, content)]
    more = f"; and {len(found) - VIOLATIONS} more" if len(found) > VIOLATIONS else ""
    return _printable("; ".join(found[:VIOLATIONS]) + more)


def _command(command: Command, fields: Mapping[str, Any], project: str, scripts: str) -> dict[str, Any]:
    import subprocess
    import sys
    import tempfile

    argv = [fill(part, fields) for part in command.argv]
    # What is told is kept with the run, and a secret is not.
    safe = [fill(part, values.keepable(dict(fields))) for part in command.argv]
    shown = " ".join(part if len(part) <= SHOWN else part[: SHOWN - 1] + "…" for part in safe)
    if command.argv[0].endswith(".py") and os.path.basename(command.argv[0]) == command.argv[0]:
        argv = [sys.executable, os.path.join(scripts, argv[0]), *argv[1:]]
    result: dict[str, Any] = {"kind": "command", "what": shown, "ok": False, "exit": None, "output": ""}
    tell(f"lockstep: running {shown} (at most {command.timeout:g} s)\n")
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                argv, cwd=project, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )
        except (OSError, ValueError) as error:
            return {**result, "why": f"{shown} cannot be run: {error}"}
        try:
            code: int | None = process.wait(command.timeout)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end_group(process)
        output.seek(max(0, output.seek(0, 2) - TAIL))
        tail = _printable(output.read().decode("utf-8", "replace"))
    for name, value in fields.items():
        if isinstance(value, str) and values.is_secret(name):
            tail = tail.replace(value, values.NOT_KEPT)
    result.update(exit=code, output=tail)
    if code == 0:
        return {**result, "ok": True, "why": ""}
    how = f"did not end within {command.timeout:g} s" if code is None else f"ended with {code}, not 0"
    return {**result, "why": f"{shown} {how}. Its output ends:\n{tail}"}


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


def _printable(text: str) -> str:
    """``text`` without the characters that XML 1.0 does not have."""
    kept = (char if char >= " " or char in "\t\n" else "?" for char in text.replace("\r\n", "\n"))
    return "".join("?" if char in "\ufffe\uffff" or "\ud800" <= char <= "\udfff" else char for char in kept)
