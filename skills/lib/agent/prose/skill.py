"""A skill without a graph as data: its instructions, its settings, its tools, and what lies beside its SKILL.md."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skills.lib import compact_json
from skills.lib.agent.prose import supporting
from skills.lib.agent.prose.settable import SETTABLE, read
from skills.lib.errors import UsageError, did_you_mean, nearest
from skills.lib.record import Record
from skills.lib.skillfile import SkillFileError, load_skill, tool_names
from skills.lib.skillfile.frontmatter import parse_yaml
from skills.lib.skillfile.source import read_source

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from skills.lib.agent.prose.supporting import SupportingFile
    from skills.lib.skillfile import SkillFile

FORK = "fork"
# What a SKILL.md may set beside SETTABLE, and what is known of other hosts and has no meaning here.
_OWN = ("context", "agent", "model")
_IGNORED = ("hooks", "argument-hint", "user-invocable", "disable-model-invocation")
_TOOLS = ("allowed-tools", "allowed_tools")
# More lines of a SKILL.md than this are warned of: all of them stand in each model call.
LINES = 500
DRAFT = "workflow.yaml"


class ProseSkill(Record):
    """A SKILL.md and its folder.

    ``settings`` has fields of Settings; ``tools`` are the names that steps use, none if all are allowed. ``is_fork``
    says that a sub-agent does the skill, of the type ``agent``. ``notes`` is what its author or user should know.
    ``digest`` stands for all that its SKILL.md says.
    """

    folder: str
    name: str
    description: str
    body: str
    settings: Mapping[str, Any]
    tools: tuple[str, ...]
    files: tuple[SupportingFile, ...]
    is_fork: bool = False
    agent: str = ""
    model: str = ""
    notes: tuple[str, ...] = ()
    digest: str = ""

    @property
    def scripts(self) -> tuple[SupportingFile, ...]:
        """Those of its files that are run and not read."""
        return tuple(file for file in self.files if file.is_script)


def load(folder: str | Path) -> ProseSkill:
    """Read the skill of a folder.

    Raises SkillFileError for a SKILL.md that cannot be read, and UsageError for a setting that is unknown or wrong.
    """
    source = load_skill(folder)
    path = os.path.realpath(source.folder)
    given, notes = _given(source)
    settings = read(given, lambda name: _place(source, name))
    context = given.get("context", "")
    if context not in ("", FORK):
        raise UsageError(f"{_place(source, 'context')}: {context!r:.80} is no context", valid=FORK)
    if given.get("agent") and not context:
        notes.append(f"agent: {given['agent']} is for a skill with context: {FORK}, and is ignored")
    tools, left_out = tool_names.read(_tools(source))
    notes += left_out
    count = source.body_line - 1 + len(source.body.rstrip("\n").split("\n"))
    if count > LINES:
        notes.append(
            f"SKILL.md has {count:,} lines, and all of them stand in each model call: keep it under {LINES}, and put "
            "the rest into files beside it"
        )
    if os.path.exists(os.path.join(path, DRAFT)):
        notes.append(f"{DRAFT} is a draft that nobody accepted: it is ignored, and SKILL.md is followed")
    return ProseSkill(
        folder=path,
        name=source.name,
        description=source.description,
        body=source.body,
        settings=settings,
        tools=tools,
        files=supporting.files(path, source.body),
        is_fork=context == FORK,
        agent=str(given.get("agent", "")) if context else "",
        model="" if given.get("model") == "inherit" else str(given.get("model", "")),
        notes=tuple(notes),
        digest=compact_json.digest([dict(source.metadata), source.body]),
    )


def _given(source: SkillFile) -> tuple[dict[str, str], list[str]]:
    """The settings by name, those of ``metadata`` before those at the top level; and what is to be said of them."""
    known = (*SETTABLE, *_OWN)
    metadata = source.metadata.get("metadata")
    portable = dict(metadata) if isinstance(metadata, dict) else {}
    found: dict[str, str] = {}
    notes = []
    for fields in (source.metadata, portable):
        for name, value in fields.items():
            _check_near(source, name, known)
            if name in known:
                if not isinstance(value, str):
                    raise UsageError(f"{_place(source, name)}: {name} is not one text", remedy=f"write {name}: VALUE")
                found[name] = value.strip()
    at_top = [name for name in source.metadata if name in SETTABLE]
    if at_top:
        notes.append(f"{', '.join(at_top)}: other hosts refuse unknown fields; under metadata: they pass")
    ignored = [name for name in source.metadata if name in _IGNORED]
    if ignored:
        notes.append(f"{', '.join(ignored)}: of another host, ignored")
    return found, notes


def _check_near(source: SkillFile, name: str, known: Sequence[str]) -> None:
    """Raise UsageError for a field that is probably a misspelt setting; any other is somebody else's."""
    words = name.replace("-", "_")
    near = nearest(words, [one for one in known if "_" in one])
    if name not in known and near and name not in _TOOLS:
        raise UsageError(
            f"{_place(source, name)}: there is no setting {name!r:.80}{did_you_mean(near)}",
            valid=", ".join(known),
        )


def _place(source: SkillFile, name: str) -> str:
    """The file and line of a field, also of one under ``metadata``."""
    line = source.lines.get(name, 0)
    if not line:
        try:
            _, lines = parse_yaml(read_source(source.path)[0], source.path, "the frontmatter")
            line = lines.get(("metadata", name), 0) + 1  # the frontmatter begins on line 2
        except SkillFileError:
            line = source.lines.get("metadata", 1)
    return f"{source.path}:{line}"


def _tools(source: SkillFile) -> str | list[str]:
    """What the frontmatter says of tools; "" if nothing."""
    for name in _TOOLS:
        value = source.metadata.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return [str(one) for one in value]
        if value is not None:
            raise UsageError(
                f"{_place(source, name)}: {name} is neither one text nor a list", remedy=f"write {name}: Read, Write"
            )
    return ""
