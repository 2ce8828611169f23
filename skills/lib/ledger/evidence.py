"""Looks at the evidence itself: a file in the project, a command's exit. A claim is not evidence."""

from __future__ import annotations

import os

from skills.lib import compact_json, paths
from skills.lib.errors import SkillError, UsageError
from skills.lib.model.requirements import Artifact, Command, fill
from skills.lib.model.texts import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

ARTIFACT_LIMIT = 10_000_000
# How many places that do not meet a schema are named.
VIOLATIONS = 5


def check(
    requirement: Artifact | Command,
    fields: Mapping[str, Any],
    project: str,
    scripts: str = "",
    opening: Mapping[str, str] | None = None,
    run_id: str = "",
    home: str = "",
) -> dict[str, Any]:
    """Look at a file or run a command in the project: ``ok``, ``what`` was looked at, ``why`` it is not enough.

    ``scripts`` is the folder of the skill's entry script, where a command's bare ``name.py`` is found; ``opening`` has
    the search paths that the run opened with, if they are known. ``run_id`` is that of the run, if there is one, and
    ``home`` the folder of its ledger, if a command would find another.
    """
    if isinstance(requirement, Artifact):
        return _artifact(requirement, fields, project)
    from skills.lib.ledger import command  # it brings subprocess and re

    return command.run(requirement, fields, project, scripts, opening or {}, run_id, home)


def _artifact(artifact: Artifact, fields: Mapping[str, Any], project: str) -> dict[str, Any]:
    path = fill(artifact.path, fields)
    result = {"kind": "artifact", "what": path, "ok": False, "why": ""}
    try:
        resolved = paths.within(project, path)
    except (UsageError, ValueError) as error:
        return {**result, "why": f"{error}; give a path under the project"}
    if os.path.isdir(resolved):
        return {**result, "why": f"{path} is not a file but a folder: name a file in it."}
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
    from skills.lib import schema as schemas  # few files have a schema

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
    return printable("; ".join(found[:VIOLATIONS]) + more)
