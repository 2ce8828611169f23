"""Prompts and resources that stand beside a workflow module, read as text."""

from __future__ import annotations

import os
from stat import S_ISREG

from skills.lib import paths
from skills.lib.errors import SkillError, UsageError, did_you_mean, nearest

# A prompt file and a resource are read by an agent; what is larger was not meant for one.
LIMIT = 1_000_000


class Prompts(dict[str, str]):
    """Sections by title; a missing one is a SkillError that names the file, the nearest section and those there are."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self.file = file

    def __missing__(self, title: str) -> str:
        what = f"{os.path.basename(self.file)} has no section {title!r}"
        remedy = f"add a line `## {title}` to it and the text under that"
        near = nearest(str(title), self)
        if near and near.lower() == str(title).lower():
            what += f"; it has {near!r}, and upper and lower case count"
            remedy = f"write {near!r}"
        elif near:
            what += did_you_mean(repr(near))
            remedy = f"write {near!r}, or {remedy}"
        raise SkillError(what, valid=", ".join(self) or "none", remedy=remedy)


def read_prompts(module_file: str) -> Prompts:
    """The sections of the Markdown file beside a workflow module, by title.

    ``problem_analysis_workflow.py`` has ``problem_analysis_prompts.md``. A line ``## title`` outside a code fence
    begins a section; what stands before the first is for the file's readers. Raises SkillError for a file that
    cannot be read or has a title twice.
    """
    stem = os.path.splitext(os.path.abspath(module_file))[0].removesuffix("_workflow")
    file = stem + "_prompts.md"
    prompts = Prompts(file)
    for title, body in sections(read_text(file)):
        if title in prompts:
            raise SkillError(f"{prompts.file} has the section {title!r} twice", remedy="rename one, or join the two")
        if title:
            prompts[title] = body.strip()
    return prompts


def sections(text: str) -> list[tuple[str, str]]:
    """Each second-level heading of a Markdown text, with the text below it; a line in a code fence is no heading."""
    parts: list[str] = []
    fenced = False
    for part in ("\n" + text).split("\n## "):
        if fenced:
            parts[-1] += "\n## " + part
        else:
            parts.append(part)
        if "```" in part:  # the first line is a heading
            fenced ^= sum(line.lstrip().startswith("```") for line in part.split("\n")[1:]) % 2 == 1
    return [(title.strip(), body) for title, _, body in (part.partition("\n") for part in parts[1:])]


def read_resource(module_file: str, name: str) -> str:
    """The text of ``resources/<name>`` in the skill that a workflow module belongs to.

    Raises UsageError for a name that leads outside the folder, SkillError for a file that is not there.
    """
    if not name or "\0" in name:
        raise UsageError(f"{name!r} is not a resource's name", valid="a path under the skill's resources folder")
    return read_text(paths.within(os.path.join(_skill_folder(module_file), "resources"), name))


def _skill_folder(module_file: str) -> str:
    folder = os.path.dirname(os.path.abspath(module_file))
    while os.path.basename(folder) != "scripts":
        parent = os.path.dirname(folder)
        if parent == folder:
            raise SkillError(f"{module_file} is not in a skill", remedy="put it under <skill>/scripts/")
        folder = parent
    return os.path.dirname(folder)


def read_text(file: str) -> str:
    """The text of a regular file with ``\\n`` line ends. Raises SkillError for any other, and for one over LIMIT."""
    data = read_bytes(file)
    try:
        text = data.decode() if len(data) <= 4 * LIMIT else ""
    except UnicodeDecodeError:
        raise SkillError(f"{file} is not UTF-8 text") from None
    if len(text) > LIMIT or len(data) > 4 * LIMIT:
        raise SkillError(f"{file} is larger than {LIMIT:,} characters")
    return text


def read_bytes(file: str) -> bytes:
    """The content of a regular file with ``\\n`` line ends, as far as a text can be that is not too long.

    Raises SkillError for any other file.
    """
    try:
        about = os.stat(file)
        if not S_ISREG(about.st_mode):
            raise SkillError(f"{file} is not a regular file")
        opened = os.open(file, os.O_RDONLY | getattr(os, "O_BINARY", 0))  # open() takes four times as long
        try:
            data = _whole(opened, about.st_size)
        finally:
            os.close(opened)
    except OSError as error:
        raise SkillError(f"{file} cannot be read: {error.strerror}") from error
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def _whole(opened: int, size: int) -> bytes:
    """The content of an open file of that size, or of what it has grown to; not much more than LIMIT allows."""
    data = part = os.read(opened, min(size, 4 * LIMIT) + 1)  # a buffer for any file would cost more than the reading
    while len(data) > size and len(data) <= 4 * LIMIT and part:
        part = os.read(opened, 4 * LIMIT)
        data += part
    return data
