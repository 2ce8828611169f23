"""A skill made self-contained: its folder with the step path inside, so that it works wherever it is copied.

    <skill>/SKILL.md, scripts/, resources/     as they are; the climb in the head of each entry script shortened
    <skill>/scripts/**/<workflow>.seal         a fresh seal for each workflow, so that nothing is validated there
    <skill>/skills/                            the package ``skills`` as far as a step needs it, and conventions/

What a copy holds depends on the skill and on Lockstep alone: the same files with the same bytes, wherever it is made.
"""

from __future__ import annotations

import ast
import os
import re
import stat
from functools import cache
from importlib import metadata

from skills.lib.errors import RefusedError, SkillError, UsageError
from skills.lib.runtime import loading
from skills.lib.workflow import seal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# The rooms that a step walks through; what they import of the ground floor is found by reading them.
ROOMS = ("workflow", "ledger", "runtime")
# Never on the step path: graphs are validated where the copy is made.
LEFT_OUT = frozenset({"skills.lib.workflow.validation"})
# What a skill's folder may hold that is no part of the skill.
_SKIPPED = frozenset({"__pycache__", "tests", "node_modules"})
SEAL = ".seal"
_SKIPPED_ENDINGS = (".pyc", ".pyo", SEAL, ".part", "~")
_LIMIT = 10_000_000
# How a script climbs to the folder that holds the package.
_CLIMB = re.compile(rb"^for _ in range\(\d+\):\n    root = os\.path\.dirname\(root\)$", re.MULTILINE)
_ENTRY = re.compile(rb"^main\(__file__\b.*\)$", re.MULTILINE)
_NEEDS_PACKAGE = b"compatibility: Needs Python 3.11 or later with the package lockstep-skills.\n"
_NEEDS_PYTHON = b"compatibility: Needs Python 3.11 or later.\n"
# In the place of the whole command, which a copy does not have; parses on any Python.
_COMMAND = b'''"""Stands for the ``lockstep`` command, which is not in a copied skill: says where it is to be had."""

import sys

sys.stderr.write("lockstep: this copy of a skill prints its steps, and does not hold the lockstep command\\n")
sys.stderr.write("  try:   pip install lockstep-skills, then the same words after: lockstep\\n")
sys.exit(4)
'''


def contents(folder: str, sealed: bool = True) -> dict[str, bytes]:
    """Every file of the self-contained copy of the skill in ``folder``, by its path below the copy, sorted.

    The skill's workflows are imported to make their seals, which are left out without ``sealed``. Raises RefusedError
    for a folder or file that is a link, has an odd name or is no regular file, InvalidWorkflow and its kin for a
    workflow that is not valid.
    """
    folder = os.path.abspath(folder)
    own = {name: _adapted(name, data) for name, data in skill_files(folder).items()}
    if "SKILL.md" not in own:
        raise UsageError(f"{folder} is not a skill: it has no SKILL.md", remedy="lockstep list")
    files = {**own, **(seals(folder, own) if sealed else {}), **vendored()}
    return dict(sorted(files.items()))


def skill_files(folder: str) -> dict[str, bytes]:
    """The skill's own files by path below its folder, without caches, tests, seals and an earlier vendored copy."""
    if os.path.islink(folder):
        raise RefusedError(f"{folder} is a link", remedy="give the folder that it leads to")
    found: dict[str, bytes] = {}
    for path in _walk(folder, is_vendored(folder)):
        name = os.path.relpath(path, folder).replace(os.sep, "/")
        check_name(name)
        found[name] = _read(path)
    return found


def is_vendored(folder: str) -> bool:
    """Whether a skill's folder carries its own copy of the step path."""
    return any(os.path.isfile(os.path.join(folder, "skills", name)) for name in ("bootstrap.py", "_bootstrap.py"))


def is_shipped(folder: str) -> bool:
    """Whether a skill's folder came with this Lockstep."""
    return os.path.dirname(os.path.realpath(folder)) == os.path.realpath(_package())


def check_name(name: str) -> None:
    """RefusedError for a path that a file of a skill cannot have: absolute, leading upwards, with odd characters."""
    parts = name.split("/")
    odd = any(ord(char) < 32 or ord(char) == 127 or 0xD800 <= ord(char) < 0xE000 for char in name) or "\\" in name
    if not name or odd or name.startswith("/") or ":" in parts[0] or any(part in ("", ".", "..") for part in parts):
        raise RefusedError(f"{name!r:.200} is no name for a file of a skill", remedy="rename the file, then try again")


def seals(folder: str, own: dict[str, bytes]) -> dict[str, bytes]:
    """A fresh seal for each workflow that has an entry beside it; each is validated first where it was not before."""
    found = {}
    for name in own:
        module = name[: -len(".py")] + loading.SUFFIX
        if not name.startswith("scripts/") or not _is_entry(own[name]) or module not in own:
            continue
        path = os.path.join(folder, module)
        workflow = loading.load_workflow(path)
        seal.require(workflow, path)
        beside = os.path.relpath(seal.beside(workflow, path), folder).replace(os.sep, "/")
        found[beside] = seal.text(workflow).encode()
    return found


@cache
def vendored() -> dict[str, bytes]:
    """The package ``skills`` as far as a step needs it, by path below the copy."""
    package = _package()
    found = {"skills/__main__.py": _COMMAND, "skills/LICENSE": _license()}
    for module in modules():
        path = _file_of(module)
        found["skills/" + os.path.relpath(path, package).replace(os.sep, "/")] = _read(path)
    shared = next(
        place
        for place in (os.path.join(package, "conventions"), os.path.join(os.path.dirname(package), "conventions"))
        if os.path.isdir(place)
    )
    for name in sorted(os.listdir(shared)):
        if name.endswith((".md", ".json")):
            found[f"skills/conventions/{name}"] = _read(os.path.join(shared, name))
    return found


@cache
def modules() -> tuple[str, ...]:
    """The modules of a copy, sorted: the rooms of a step whole, and what these and the bootstrap import."""
    todo = ["skills", "skills.bootstrap", "skills.lib.checks", "skills.lib.prompts", "skills.lib.conventions"]
    todo += _in_rooms()
    found: set[str] = set()
    while todo:
        module = todo.pop()
        path = _file_of(module)
        if module in found or not path:
            continue
        found.add(module)
        todo.append(module.rpartition(".")[0] or "skills")
        todo += [name for name in _imports(_read(path)) if name.startswith("skills.") and not _is_left_out(name)]
    return tuple(sorted(found))


def _in_rooms() -> Iterator[str]:
    lib = os.path.join(_package(), "lib")
    for room in ROOMS:
        for path in _walk(os.path.join(lib, room), False):
            if path.endswith(".py"):
                parts = os.path.relpath(path, lib)[: -len(".py")].split(os.sep)
                module = ".".join(["skills", "lib", *parts]).removesuffix(".__init__")
                if not _is_left_out(module):
                    yield module


def _imports(source: bytes) -> set[str]:
    """Every module, and every name that may be one, that a source imports; what only a type checker sees is not."""
    found: set[str] = set()
    todo: list[ast.AST] = [ast.parse(source)]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            todo += node.orelse
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        todo += ast.iter_child_nodes(node)
    return found


def _is_left_out(module: str) -> bool:
    return any(module == name or module.startswith(name + ".") for name in LEFT_OUT)


def _file_of(module: str) -> str:
    """The file of a module of the package; empty where the name is none, or that of a folder without a module."""
    place = os.path.join(os.path.dirname(_package()), *module.split("."))
    for path in (place + ".py", os.path.join(place, "__init__.py")):
        if os.path.isfile(path):
            return path
    return ""


def _package() -> str:
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _license() -> bytes:
    """The terms of the copied files: a checkout has them beside the package, an installation in its records."""
    beside = os.path.join(os.path.dirname(_package()), "LICENSE")
    if os.path.isfile(beside):
        return _read(beside)
    for file in metadata.files("lockstep-skills") or []:
        if file.name == "LICENSE":
            return file.read_binary()
    raise SkillError(
        "the LICENSE of lockstep-skills is missing", remedy="pip install --force-reinstall lockstep-skills"
    )


def _adapted(name: str, data: bytes) -> bytes:
    """A file as it stands in the copy: a script climbs to the skill's own folder, not to that of all skills."""
    if name == "SKILL.md":
        return data.replace(_NEEDS_PACKAGE, _NEEDS_PYTHON)
    if not name.startswith("scripts/") or not name.endswith(".py"):
        return data
    _check_imports(name, data)
    if b"\nmain(__file__" in data.replace(b"\r", b"") and not _is_entry(data):
        raise SkillError(
            f"{name} has another head than entry scripts have, and would not find its copy of Lockstep",
            remedy="give it the head that the docstring of skills/bootstrap.py shows",
        )
    depth = str(name.count("/") + 1).encode()
    return _CLIMB.sub(b"for _ in range(" + depth + b"):\n    root = os.path.dirname(root)", data, count=1)


def _check_imports(name: str, data: bytes) -> None:
    """SkillError where a script imports a part of Lockstep that a copy does not hold."""
    try:
        found = _imports(data)
    except SyntaxError as error:
        raise SkillError(f"{name}:{error.lineno}: {error.msg}", remedy="lockstep validate") from error
    held = set(modules())
    # An installation has the package beside all others, which are not looked for there.
    own = [module for module in found if module.partition(".")[0] == "skills"]
    missing = [module for module in own if _file_of(module) and module not in held]
    if missing:
        raise SkillError(
            f"{name} imports {min(missing)}, which is no part of what prints steps, and is not in a copy",
            remedy="import what docs/authoring.md names",
        )


def _is_entry(data: bytes) -> bool:
    return bool(_CLIMB.search(data) and _ENTRY.search(data))


def _walk(folder: str, vendored: bool) -> Iterator[str]:
    """The files below a folder, in order; a link is refused wherever it leads."""
    for place, folders, files in os.walk(folder, onerror=_raise):
        top = place == folder
        folders[:] = sorted(
            name for name in folders if not _is_skipped(name) and not (vendored and top and name == "skills")
        )
        for name in folders:
            if os.path.islink(os.path.join(place, name)):
                raise RefusedError(f"{os.path.join(place, name)} is a link", remedy="put the folder itself there")
        yield from (os.path.join(place, name) for name in sorted(files) if not _is_skipped(name))


def _is_skipped(name: str) -> bool:
    return name in _SKIPPED or name.startswith(".") or name.endswith(_SKIPPED_ENDINGS)


def _raise(error: OSError) -> None:
    raise SkillError(f"{error.filename} cannot be read: {error.strerror}") from error


def _read(path: str) -> bytes:
    try:
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode):
            raise RefusedError(f"{path} is no regular file", remedy="put a copy of what it stands for there")
        if found.st_size > _LIMIT:
            raise RefusedError(f"{path} is larger than {_LIMIT:,} bytes", remedy="a skill is text that an agent reads")
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise SkillError(f"{path} cannot be read: {error.strerror}") from error
