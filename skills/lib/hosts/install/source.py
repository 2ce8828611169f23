"""The source of a skill: its own files, and the seals of its workflows."""

from __future__ import annotations

import os
import re
import stat

import skills
from skills.lib import paths
from skills.lib.errors import RefusedError, SkillError, UsageError
from skills.lib.runtime import loading
from skills.lib.skillfile import discovery
from skills.lib.validation import registration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import NoReturn

SEAL = ".seal"
# Names in a skill's folder that are no part of the skill.
_SKIPPED = frozenset({"__pycache__", "tests", "node_modules"})
_SKIPPED_ENDINGS = (".pyc", ".pyo", SEAL, ".part", "~")
_LIMIT = 10_000_000
# How a script climbs to the folder that holds the package, and how it ends.
CLIMB = re.compile(rb"^root = .*\nfor _ in range\(\d+\):\n    root = os\.path\.dirname\(root\)$", re.MULTILINE)
_SEAL = re.compile(rb"[0-9a-f]{1,100} [0-9a-f]{16}\n")
_MAIN = re.compile(rb"^main\(__file__\b.*\)\r?$", re.MULTILINE)
# The first line of a script that an installation wrote.
MARK = paths.INSTALLED


def package() -> str:
    """The folder of the package ``skills`` that runs."""
    return os.path.dirname(os.path.abspath(skills.__file__))


def facade() -> str:
    """The folder of the package ``lockstep`` beside it."""
    return os.path.join(os.path.dirname(package()), "lockstep")


def is_shipped(folder: str) -> bool:
    """True if a skill's folder came with this Lockstep."""
    return os.path.dirname(os.path.realpath(folder)) == os.path.realpath(package())


def is_package(folder: str) -> bool:
    """True if a folder is the package ``skills`` of some Lockstep, this version or an older one."""
    return any(os.path.isfile(os.path.join(folder, name)) for name in ("bootstrap.py", "_bootstrap.py"))


def is_copy(folder: str) -> bool:
    """True if a skill's folder is a copy that ``export`` or ``install`` made."""
    if is_package(os.path.join(folder, "skills")):
        return True
    scripts = os.path.join(folder, "scripts")
    names = sorted(os.listdir(scripts)) if os.path.isdir(scripts) else []
    return any(_begins(os.path.join(scripts, name), MARK) for name in names if name.endswith(".py"))


def files(folder: str) -> dict[str, bytes]:
    """The skill's own files by path below its folder, without caches, tests, seals and the library of an export.

    Raises RefusedError for a folder or file that is a link, has an odd name or is no regular file; UsageError for a
    folder without a SKILL.md.
    """
    folder = os.path.abspath(folder)
    if os.path.islink(folder):
        raise RefusedError(f"{folder} is a link", remedy="give the folder that it leads to")
    found: dict[str, bytes] = {}
    of_library = _vendored(folder)
    for path in walk(folder):
        name = os.path.relpath(path, folder).replace(os.sep, "/")
        if name.partition("/")[0].removesuffix(".py") in of_library:
            continue
        check_name(name)
        found[name] = read(path)
    if "SKILL.md" not in found:
        raise UsageError(f"{folder} is not a skill: it has no SKILL.md", remedy="lockstep list")
    return found


def check_name(name: str) -> None:
    """RefusedError for a path that a file of a skill cannot have: absolute, leading upwards, with odd characters."""
    parts = name.split("/")
    odd = any(ord(char) < 32 or ord(char) == 127 or 0xD800 <= ord(char) < 0xE000 for char in name) or "\\" in name
    if not name or odd or name.startswith("/") or ":" in parts[0] or any(part in ("", ".", "..") for part in parts):
        raise RefusedError(f"{name!r:.200} is no name for a file of a skill", remedy="rename the file, then try again")


def is_entry(name: str, own: dict[str, bytes]) -> bool:
    """True if a file is an entry script: it hands itself to the bootstrap's main."""
    return name.startswith("scripts/") and name.endswith(".py") and bool(_MAIN.search(own[name]))


def seals(folder: str, own: dict[str, bytes]) -> dict[str, bytes]:
    """A fresh seal for each workflow of the skill; a workflow that was not validated before is validated first.

    The workflows are imported. Raises InvalidWorkflow and its kin for one that is not valid.
    """
    found = {}
    for name in own:
        stem = name[: -len(".py")]
        module = stem + (paths.MODULE if stem + paths.MODULE in own else paths.COMPILED)
        if is_entry(name, own) and module in own:
            path = os.path.join(os.path.abspath(folder), *module.split("/"))
            workflow = loading.load_workflow(path)
            registration.require(workflow, path)
            beside = os.path.relpath(registration.beside(workflow, path), os.path.abspath(folder))
            found[beside.replace(os.sep, "/")] = registration.text(workflow).encode()
    return found


def is_seal(path: str) -> bool:
    """True if a file has the form of a seal."""
    try:
        return bool(_SEAL.fullmatch(read(path)))
    except (RefusedError, SkillError):
        return False


def walk(folder: str, sealed: bool = False) -> Iterator[str]:
    """The files below a folder, in order, without caches and the like; RefusedError for a link to a folder.

    Seals are left out unless ``sealed``.
    """
    for place, folders, names in os.walk(folder, onerror=_raise):
        folders[:] = sorted(name for name in folders if not _is_skipped(name))
        if place.count(os.sep) - folder.count(os.sep) > discovery.LEVELS:
            raise RefusedError(f"{folder} has folders more than {discovery.LEVELS} levels deep", remedy="take them out")
        for name in folders:
            if os.path.islink(os.path.join(place, name)):
                raise RefusedError(f"{os.path.join(place, name)} is a link", remedy="put the folder itself there")
        for name in sorted(names):
            if not _is_skipped(name) or (sealed and name.endswith(SEAL)):
                yield os.path.join(place, name)


def read(path: str) -> bytes:
    """The content of a regular file."""
    try:
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode):
            raise RefusedError(f"{path} is no regular file", remedy="put a copy of what it stands for there")
        if found.st_size > _LIMIT:
            raise RefusedError(f"{path} is larger than {_LIMIT:,} bytes", remedy="a skill is text that an agent reads")
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        _raise(error)


def _begins(path: str, mark: bytes) -> bool:
    if not os.path.isfile(path):  # a FIFO is not waited for
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(mark)) == mark
    except OSError:
        return False


def _vendored(folder: str) -> set[str]:
    """The packages of Lockstep in a copy: ``x.py`` or ``x/``."""
    if not is_copy(folder):
        return set()
    has_facade = os.path.isfile(os.path.join(folder, "lockstep", "library.py"))
    return {"skills", "lockstep"} if has_facade else {"skills"}


def _is_skipped(name: str) -> bool:
    return name in _SKIPPED or name.startswith(".") or name.endswith(_SKIPPED_ENDINGS)


def _raise(error: OSError) -> NoReturn:
    raise SkillError(f"{error.filename} cannot be read: {error.strerror}") from error
