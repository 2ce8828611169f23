"""Versions of a plan in a folder: plan.1.json, plan.2.json and so on; none is ever written a second time."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
from typing import Any, NamedTuple

from .faults import ENVIRONMENT, USAGE, PlanError
from .form import LIMIT, canonical, parse, stored
from .markdown import as_markdown
from .parts import as_parts
from .places import PARTS, read_under

_VERSION = re.compile(r"plan\.([1-9][0-9]{0,5})\.json")
_OF_MILESTONE = re.compile(r"M-[0-9]{3}\.md")
READABLE = "plan.md"
DRAFT = "draft.json"


class Saved(NamedTuple):
    """A version in its folder; ``new`` tells whether this call wrote it."""

    version: int
    path: str
    new: bool


def versions(folder: str) -> list[int]:
    """The numbers of the versions in a folder, rising."""
    found = (_VERSION.fullmatch(name) for name in os.listdir(folder))
    return sorted(int(match[1]) for match in found if match)


def load(folder: str, version: int | None = None) -> tuple[int, Any]:
    """A version (the latest without a number) and its content; PlanError where there is none or it is damaged."""
    known = versions(folder)
    if not known:
        raise PlanError(f"{folder} holds no plan yet; save one first", code=USAGE)
    number = known[-1] if version is None else version
    if number not in known:
        raise PlanError(f"there is no version {number}; there are {', '.join(map(str, known))}", code=USAGE)
    name = f"plan.{number}.json"
    try:
        content = read_under(folder, name, LIMIT)
    except ValueError as error:
        raise PlanError(f"{name}: {error}", code=ENVIRONMENT) from None
    if content is None:
        raise PlanError(f"{name} has gone while it was read", code=ENVIRONMENT)
    return number, parse(content, name)


def save(folder: str, plan: Any, base: int) -> Saved:
    """Write the plan as the version after ``base`` and render it; the same content as ``base`` writes no version.

    Raises PlanError, and changes nothing, where somebody has written that version meanwhile.
    """
    if base and _holds(folder, base, plan):
        render(folder)
        return Saved(base, os.path.join(folder, f"plan.{base}.json"), False)
    number = base + 1
    if not _VERSION.fullmatch(f"plan.{number}.json"):
        raise PlanError(f"there is no version after {base}; move the versions that are no longer wanted elsewhere")
    path = os.path.join(folder, f"plan.{number}.json")
    part = _write_beside(path, stored(plan))
    try:
        # A link is made whole or not at all, and never over a file that is there.
        os.link(part, path)
    except FileExistsError:
        what = f"version {number} was written by somebody else meanwhile, and this one was not saved"
        raise PlanError(f"{what}; see what they changed (diff), bring it together with yours, and save again") from None
    except OSError as error:
        what = f"version {number} cannot be put in place: {error.strerror}"
        raise PlanError(f"{what}; keep the plan on a file system with hard links", code=ENVIRONMENT) from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(part)
    _sync(folder)
    render(folder)
    return Saved(number, path, True)


def _holds(folder: str, version: int, plan: Any) -> bool:
    """Whether a version has the same content; one that is damaged has not, and the next one takes its place."""
    try:
        return canonical(load(folder, version)[1]) == canonical(plan)
    except PlanError:
        return False


def render(folder: str) -> str:
    """Write the latest version and its parts as Markdown, and return the path; an unchanged file is left alone."""
    number, plan = load(folder)
    _render_as(folder, READABLE, as_markdown(plan, number), number)
    _render_parts(folder, as_parts(plan), number)
    return os.path.join(folder, READABLE)


def _render_parts(folder: str, parts: dict[str, str], number: int) -> None:
    """Write each part into a folder of its own, which git ignores, and remove those of former milestones."""
    inside = os.path.join(folder, PARTS)
    try:
        if os.path.islink(inside):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        os.makedirs(inside, exist_ok=True)
        for name in os.listdir(inside):
            if _OF_MILESTONE.fullmatch(name) and name not in parts:
                os.unlink(os.path.join(inside, name))
    except OSError as error:
        raise _unwritten(number, PARTS, error) from None
    for name, text in {".gitignore": "*\n", **parts}.items():
        _render_as(inside, name, text, number)


def _render_as(folder: str, name: str, text: str, number: int) -> None:
    path = os.path.join(folder, name)
    try:
        if read_under(folder, name, LIMIT) == text.encode():
            return
    except ValueError:
        pass
    part = _write_beside(path, text.encode())
    try:
        os.replace(part, path)
    except OSError as error:
        os.unlink(part)
        raise _unwritten(number, name, error) from None
    _sync(folder)


def _unwritten(number: int, name: str, error: OSError) -> PlanError:
    what = f"version {number} is kept, and {name} beside it cannot be written: {error.strerror}"
    return PlanError(what, code=ENVIRONMENT)


def lay_out(path: str, plan: Any) -> None:
    """Write a draft anew in the layout of a version, so that a version can be copied over it and it is as it was."""
    with open(path, "rb") as file:
        if file.read(LIMIT + 1) == stored(plan):
            return
    part = _write_beside(path, stored(plan))
    try:
        os.replace(part, path)
    except OSError as error:
        os.unlink(part)
        raise PlanError(f"{path} cannot be written: {error.strerror}", code=ENVIRONMENT) from None


def _write_beside(path: str, content: bytes) -> str:
    """Write a file of this process alone next to ``path``, down to the disk; its name is no version's."""
    folder, name = os.path.split(path)
    part = os.path.join(folder, f".{name}.{secrets.token_hex(6)}.part")
    try:
        file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        with open(file, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise PlanError(f"{part} cannot be written: {error.strerror}", code=ENVIRONMENT) from None
    return part


def _sync(folder: str) -> None:
    # Systems that cannot open a folder have no such thing to bring to the disk.
    with contextlib.suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
