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


def digest_of(source: str) -> str:
    """The digest of a source file; line ends do not count."""
    return compact_json.checksum(prompts.read_bytes(source))


def load(path: str, find: Callable[[str], Callable[..., Any]]) -> Workflow:
    """The workflow of the JSON at ``path``, registered under its name; ``find`` gives the functions that it names.

    Raises SkillError for JSON that is missing, damaged, or older than what it was made of.
    """
    data = _data(path)
    _check_sources(path, data["sources"])
    workflow = Workflow.restored(data["workflow"], find)
    workflow._set(_fingerprint=compact_json.digest(data["workflow"]))  # of which to_data would be made again
    # By its name: validation is the floor above, as for the registration by a module of a graph.
    registration: Any = __import__("skills.lib.validation.registration", fromlist=["require"])
    registration.require(workflow, path)
    REGISTRY[workflow.name] = Registered(workflow, path)
    return workflow


def _missing(path: str) -> SkillError:
    """What is said of JSON that is not there: a draft was not accepted, or nothing was compiled."""
    from skills.lib.runtime import drafts  # most graphs are no drafts

    source = paths.yaml_of(path)
    if not source:
        from skills.lib.runtime import missing_graph  # only a graph that is not there needs it

        return SkillError(f"{path} is missing", remedy=missing_graph.remedy(path))
    if not drafts.is_draft(source):
        return SkillError(f"{source} was never compiled", remedy=_command(path))
    remedy = f"a person reads it and corrects it, then: lockstep adopt {os.path.dirname(source)} --accept"
    return SkillError(f"{source} is a draft that no person has accepted", remedy=remedy)


def _data(path: str) -> dict[str, Any]:
    try:
        text = prompts.read_text(path)
    except SkillError:
        if os.path.isfile(path):
            raise
        raise _missing(path) from None
    try:
        data = compact_json.load_object(text.rstrip())
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
        try:
            found = digest_of(source)
        except SkillError:
            if number == 0 and not os.path.exists(source):
                return
            raise
        if found != digest:
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
