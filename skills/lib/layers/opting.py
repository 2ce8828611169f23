"""Whether a phase of an issue uses its layered skills, and the record of what was used."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass
from typing import Any

from skills.lib import files, paths
from skills.lib.errors import EnvironmentProblem, UsageError, nearest

SETTING = "status.settings.useLayeredSkills"
RECORD = "phases.jsonl"
_LIMIT = 4_000_000


@dataclass(frozen=True)
class Choice:
    """True if the layered skills are wanted, who says so, and a name in the issue that is nearly the setting's."""

    layered: bool
    because: str
    near: str = ""


@dataclass(frozen=True)
class Given:
    """What an agent was given for a phase: the old prompt or the layered one, and why it fell back if it did."""

    phase: str
    issue: str
    prompt: str
    layered: bool
    because: str
    fallback: str = ""


def choice(issue: str | None, of_project: bool | None, place: str) -> Choice:
    """What the issue says, else the project's setting, else no. Raises UsageError if the issue cannot be read."""
    data = _read(issue) if issue else {}
    said = _inside(data, SETTING)
    if said is not None and not isinstance(said, bool):
        raise UsageError(f"{issue}: {SETTING} is {said!r:.80}", valid="true or false")
    if said is not None:
        return Choice(said, f"{SETTING} is {json.dumps(said)} in {issue}")
    near = _near(data)
    there = f"{issue} has {near}; did you mean {SETTING}?" if near else ""
    if of_project is not None:
        return Choice(of_project, f"use_layered_skills is {json.dumps(of_project)} in {place}", there)
    because = f"neither {SETTING} of an issue nor the project's setting says so"
    return Choice(False, because + (f": {there}" if there else ""), there)


def _read(path: str) -> Any:
    try:
        return json.loads(files.read(path, _LIMIT))
    except (OSError, ValueError, RecursionError) as error:
        why = getattr(error, "strerror", None) or "it is no JSON"
        raise UsageError(f"the issue {path} cannot be read: {why}", valid="an issue.json") from error


def _inside(data: Any, place: str) -> Any:
    """The value at a place of an issue; None if there is none."""
    for name in place.split("."):
        data = data.get(name) if isinstance(data, dict) else None
    return data


def _near(data: Any) -> str:
    """The place in an issue that was probably meant as the setting; empty if there is none."""
    within, _, name = SETTING.rpartition(".")
    settings = _inside(data, within)
    found = nearest(name, [*settings]) if isinstance(settings, dict) else ""
    if found:
        return f"{within}.{found}"
    places = (name, f"{within.partition('.')[0]}.{name}")
    return next((place for place in places if _inside(data, place) is not None), "")


def record(project: str, given: Given) -> str:
    """Add what was given to the project's record of phases; return its path.

    Raises EnvironmentProblem if it cannot be written, or a link leads away.
    """
    home = paths.home(project)
    path = os.path.join(home, RECORD)
    link = paths.link_in(home, RECORD)
    try:
        if link:
            raise OSError(0, f"{link} is a link")
        os.makedirs(home, 0o700, exist_ok=True)
        ignored = os.path.join(home, ".gitignore")
        if not os.path.lexists(ignored):
            files.write(ignored, b"*\n")
        line = json.dumps({"at": int(time.time()), **asdict(given)}, ensure_ascii=False)
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            os.write(file, f"{line}\n".encode())
        finally:
            os.close(file)
    except OSError as error:
        raise EnvironmentProblem(
            f"{path} cannot be written: {error.strerror}", remedy="make its folder writable"
        ) from error
    return path
