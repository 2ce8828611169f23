"""SKILL.md against the Agent Skills specification (agentskills.io/specification)."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from skills.lib.errors import did_you_mean, nearest
from skills.lib.skillfile.document import locate, read_fields
from skills.lib.skillfile.source import SkillFileError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from skills.lib.skillfile.frontmatter import Node

FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")
NAME_LIMIT = 64
DESCRIPTION_LIMIT = 1_024
COMPATIBILITY_LIMIT = 500
BODY_LINES = 500

# What the specification allows as the name of a skill, up to NAME_LIMIT characters.
NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class SpecProblem:
    """One departure from the specification: where, what, why it matters, what to do."""

    line: int
    what: str
    why: str
    do: str
    severity: Literal["error", "warning"] = "error"


def check_specification(folder: str | os.PathLike[str]) -> list[SpecProblem]:
    """Every departure of the SKILL.md in ``folder``, by line; a file that cannot be read is one error."""
    # The name is compared with the folder as it is called where it stands, so that `check_specification(".")` works.
    folder = Path(os.path.abspath(folder))
    try:
        fields, lines, body, body_line = read_fields(locate(folder))
    except SkillFileError as error:
        why = "a host that cannot read the file does not offer the skill"
        return [SpecProblem(error.line, f"SKILL.md {error.cause}", why, error.remedy)]
    problems = [
        *_unknown_fields(fields, lines),
        *_name(fields, lines, folder.name),
        *_description(fields, lines),
        *_optional_fields(fields, lines),
        *_body(body, body_line),
    ]
    return sorted(problems, key=lambda problem: (problem.line, problem.what))


def _unknown_fields(fields: Mapping[str, Node], lines: Mapping[str, int]) -> Iterator[SpecProblem]:
    for field in fields:
        if field not in FIELDS:
            near = nearest(field, FIELDS)
            do = f"write {near}" if near else "move it under metadata:"
            what = f"{field[:80]!r} is not a field of the specification{did_you_mean(near)}"
            yield SpecProblem(lines[field], what, "packaging tools refuse unknown fields", do)


def _name(fields: Mapping[str, Node], lines: Mapping[str, int], folder: str) -> Iterator[SpecProblem]:
    name = fields.get("name")
    if not isinstance(name, str):
        yield _missing("name", fields, lines)
        return
    if len(name) > NAME_LIMIT:
        what = f"the name has {len(name)} characters, {NAME_LIMIT} are allowed"
        yield SpecProblem(lines["name"], what, "hosts refuse longer names", "shorten it, and the folder's name with it")
    if not NAME.fullmatch(name):
        what = f"{name[:80]!r} is not a skill name"
        do = "use a-z, 0-9 and single hyphens between them, as in code-review"
        yield SpecProblem(lines["name"], what, "hosts call the skill by this name and refuse others", do)
    if name != folder:
        what = f"the name is {name[:80]!r}, the folder is {folder!r}"
        yield SpecProblem(lines["name"], what, "hosts look a skill up by its folder", "give both the same name")


def _description(fields: Mapping[str, Node], lines: Mapping[str, int]) -> Iterator[SpecProblem]:
    description = fields.get("description")
    if not isinstance(description, str):
        yield _missing("description", fields, lines)
        return
    line = lines["description"]
    if not description.strip():
        why = "a host chooses a skill by its description"
        yield SpecProblem(line, "the description is blank", why, "say what the skill does and when to use it")
    if len(description) > DESCRIPTION_LIMIT:
        what = f"the description has {len(description):,} characters, {DESCRIPTION_LIMIT:,} are allowed"
        yield SpecProblem(line, what, "hosts cut or refuse longer ones", "move detail into the body")
    if "<" in description or ">" in description:
        why = "hosts set it inside a prompt's own markup, and packaging tools refuse it"
        yield SpecProblem(line, "the description has an angle bracket", why, "say it in words")


def _optional_fields(fields: Mapping[str, Node], lines: Mapping[str, int]) -> Iterator[SpecProblem]:
    for field in ("license", "compatibility"):
        value = fields.get(field, "-")
        if not isinstance(value, str) or not value.strip():
            yield SpecProblem(
                lines[field], f"{field} is not text", "the field is one text", "write it, or leave it out"
            )
        elif field == "compatibility" and len(value) > COMPATIBILITY_LIMIT:
            what = f"compatibility has {len(value):,} characters, {COMPATIBILITY_LIMIT} are allowed"
            yield SpecProblem(lines[field], what, "hosts refuse longer ones", "name the requirements only")
    metadata = fields.get("metadata", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        what = "metadata is not a mapping from text to text"
        do = "write one `key: text` per line under it"
        yield SpecProblem(lines["metadata"], what, "hosts read flat keys only", do)
    tools = fields.get("allowed-tools", "")
    if not isinstance(tools, str) and not (isinstance(tools, list) and all(isinstance(tool, str) for tool in tools)):
        what = "allowed-tools is neither one text nor a list of texts"
        do = "write `allowed-tools: Read Bash(git:*)`"
        yield SpecProblem(lines["allowed-tools"], what, "hosts read no other form", do)


def _body(body: str, body_line: int) -> Iterator[SpecProblem]:
    count = len(body.rstrip("\n").split("\n"))
    if count >= BODY_LINES:
        what = f"the body has {count:,} lines; the specification recommends fewer than {BODY_LINES}"
        why = "the whole body is loaded into the agent's context at once"
        yield SpecProblem(body_line, what, why, "move reference material into files beside it", "warning")


def _missing(field: str, fields: Mapping[str, Node], lines: Mapping[str, int]) -> SpecProblem:
    what = f"{field} is not text" if field in fields else f"the frontmatter has no {field}"
    return SpecProblem(lines.get(field, 1), what, "the specification requires it", f"write `{field}: some text`")
