"""Loads the JSON that ``lockstep validate --seal`` compiles of a ``workflow.yaml``; no YAML is parsed here.

    skills/x/workflow.yaml            ->  skills/x/scripts/x_workflow.json
    skills/x/scripts/y_workflow.yaml  ->  skills/x/scripts/y_workflow.json

The JSON holds a digest of each file that it was made of. A step compares them, and refuses JSON that is not current.
Nothing that it names is imported but a file of handlers beside it.
"""

from __future__ import annotations

import os

from skills.lib import compact_json, paths, prompts
from skills.lib.errors import SkillError
from skills.lib.model.steps import REGISTRY, Registered, Workflow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

FORMAT = 1
# How much of a YAML file is looked at for its mark of a draft, in characters.
_DRAFT_LIMIT = 64_000


def digest_of(source: str) -> str:
    """The digest of a source file; line ends do not count."""
    return compact_json.checksum(prompts.read_text(source).encode())


def to_json(data: Mapping[str, Any], sources: Mapping[str, str]) -> str:
    """The text of the JSON: one line for each source, for each field of the workflow, and for each field of a step."""
    parts = [
        f'"{name}":{compact_json.ordered(value)}' if name != "steps" else '"steps":' + _lines("[]", map(_step, value))
        for name, value in data.items()
    ]
    digests = [f"{compact_json.ordered(name)}:{compact_json.ordered(digest)}" for name, digest in sources.items()]
    head = f'"format":{FORMAT},\n"sources":{_lines("{}", digests)},\n"workflow":'
    return "{" + head + _lines("{}", parts) + "}\n"


def _step(step: Mapping[str, Any]) -> str:
    return _lines("{}", [f'"{name}":{compact_json.ordered(value)}' for name, value in step.items()])


def _lines(around: str, parts: Any) -> str:
    return around[0] + "\n" + ",\n".join(parts) + "\n" + around[1]


def is_draft(source: str) -> bool:
    """True if a ``workflow.yaml`` has the line by which no person has accepted it; reading YAML is not for a step."""
    try:
        with open(source, encoding="utf-8", errors="replace") as file:
            lines = file.read(_DRAFT_LIMIT).split("\n")
    except OSError:
        return False
    return any(line.startswith("draft:") and line[6:].partition("#")[0].strip(" \t\r\"'") == "true" for line in lines)


def load(path: str, find: Callable[[str], Callable[..., Any]]) -> Workflow:
    """The workflow of the JSON at ``path``, registered under its name; ``find`` gives the functions that it names.

    Raises SkillError for JSON that is missing, damaged, or older than what it was made of.
    """
    if not os.path.isfile(path):
        source = paths.yaml_of(path)
        if source:
            if is_draft(source):
                remedy = f"a person reads it and corrects it, then: lockstep adopt {os.path.dirname(source)} --accept"
                raise SkillError(f"{source} is a draft that no person has accepted", remedy=remedy)
            raise SkillError(f"{source} was never compiled", remedy=_command(path))
        raise SkillError(f"{path} is missing", remedy="the graph of a script x.py is in x_workflow.py beside it")
    data = _data(path)
    _check_sources(path, data["sources"])
    workflow = Workflow.restored(data["workflow"], find)
    workflow._set(_fingerprint=compact_json.digest(data["workflow"]))  # of which to_data would be made again
    # By its name: validation is the floor above, as for the registration by a module of a graph.
    registration: Any = __import__("skills.lib.validation.registration", fromlist=["require"])
    registration.require(workflow, path)
    REGISTRY[workflow.name] = Registered(workflow, path)
    return workflow


def _data(path: str) -> dict[str, Any]:
    try:
        data = compact_json.load_object(prompts.read_text(path).rstrip())
        if data["format"] != FORMAT:
            raise SkillError(f"{path} has format {data['format']!r:.40}, this is {FORMAT}", remedy=_command(path))
        if not isinstance(data["sources"], dict) or not isinstance(data["workflow"], dict):
            raise TypeError
    except (TypeError, KeyError, ValueError) as error:
        raise SkillError(f"{path} is not what `lockstep validate --seal` writes", remedy=_command(path)) from error
    return data


def _check_sources(path: str, sources: Mapping[str, Any]) -> None:
    """SkillError if a file that the JSON was made of has changed; none is looked at if the first is not there."""
    folder = os.path.dirname(path)
    for number, (name, digest) in enumerate(sources.items()):
        source = os.path.join(folder, *_below(path, name))
        if number == 0 and not os.path.exists(source):
            return
        if digest_of(source) != digest:
            what = f"{os.path.normpath(source)} has changed since it was compiled"
            raise SkillError(what, remedy=_command(path))


def _below(path: str, name: str) -> list[str]:
    """The parts of a source's path, which is in the skill. SkillError for any other."""
    parts = name.split("/")
    below = parts[1:] if parts[0] == ".." else parts
    if not below or any(part in ("", ".", "..") or "\\" in part or ":" in part for part in below):
        raise SkillError(f"{path} names a source outside of the skill: {name!r:.80}", remedy=_command(path))
    return parts


def _command(path: str) -> str:
    """The command that compiles the graph anew."""
    from skills.lib.blocks.command_line import join  # an error is printed seldom

    return join(
        ["lockstep", "validate", "--seal", (paths.yaml_of(path) and os.path.dirname(os.path.dirname(path))) or path]
    )
