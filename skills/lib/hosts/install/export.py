"""A skill made self-contained: its folder with the step path inside, so that it works wherever it is copied.

    <skill>/SKILL.md, scripts/, resources/     as they are; the climb in the head of each script shortened
    <skill>/scripts/**/<workflow>.seal         a fresh seal for each workflow, so that nothing is validated there
    <skill>/skills/, skills.py                 the package ``skills`` as far as a step needs it, and conventions/
    <skill>/lockstep/, lockstep.py             the names that graphs may import in place of the package's

What a copy holds depends on the skill and on Lockstep alone: the same files with the same bytes, wherever it is made.
No name begins with an underscore, as installers leave such files out: a package ``x/__init__.py`` is ``x.py`` with a
``__path__``.
"""

from __future__ import annotations

import ast
import os
from functools import cache

from skills.lib import files
from skills.lib.errors import EnvironmentProblem, RefusedError, SkillError
from skills.lib.hosts.install import runtime, source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# The rooms that a step walks through; what they import of the ground floor is found by reading them.
ROOMS = ("blocks", "compat", "engine", "ledger", "model", "runtime", "validation", "workflow")
# Not in a copy: graphs are validated when the copy is made, and a copy looks at their seals alone.
LEFT_OUT = "skills.lib.validation."
REGISTRATION = LEFT_OUT + "registration"
# Of the package lockstep: what serves its names, and the way in if another package skills is nearer on the path.
FACADE = ("lockstep", "lockstep.bootstrap", "lockstep.library")
_NEEDS_PACKAGE = b"compatibility: Needs Python 3.11 or later with the package lockstep-skills.\n"
_NEEDS_PYTHON = b"compatibility: Needs Python 3.11 or later.\n"
_CLIMB = b"root = os.path.realpath(__file__)\nfor _ in range(%d):\n    root = os.path.dirname(root)"
_PATH = b"__path__ = [__file__[: -len('.py')]]"


def contents(folder: str) -> dict[str, bytes]:
    """Every file of the self-contained copy of the skill in ``folder``, by its path below the copy, sorted.

    The skill's workflows are imported to make their seals. Raises as ``source.files`` and ``source.seals`` do.
    """
    own = source.files(folder)
    copied = dict(_plain(name, data) for name, data in own.items())
    copied = {name: _adapted(name, copied) for name in copied}
    return dict(sorted({**copied, **source.seals(folder, own), **vendored()}.items()))


def write_copy(place: str, contents: Mapping[str, bytes], replace: bool) -> None:
    """Write the files of a copy as the folder ``place``. Raises RefusedError if something else is there.

    An earlier copy is replaced with ``replace``. Raises EnvironmentProblem if the disk does not take the files; nothing
    is left behind then.
    """
    _check_place(place, replace)
    try:
        files.write_folder(place, contents, replace=os.path.lexists(place))
    except OSError as error:
        raise EnvironmentProblem(f"{place} cannot be written: {error.strerror}", remedy="--to DIR") from error


@cache
def vendored() -> dict[str, bytes]:
    """The packages ``skills``, as far as a step needs it, and ``lockstep``, by path below the copy."""
    above = os.path.dirname(source.package())
    found = {"skills/LICENSE": runtime.license_text()}
    for module in (*modules(), *FACADE):
        path = _file_of(module)
        name, data = _plain(os.path.relpath(path, above).replace(os.sep, "/"), source.read(path))
        found[name] = data
    shared = runtime.contents()
    return found | {name: shared[name] for name in shared if name.startswith("skills/conventions/")}


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
        todo += [name for name in _imports(source.read(path)) if name.startswith("skills.") and not _is_left_out(name)]
    return tuple(sorted(found))


def check_imports(name: str, data: bytes) -> None:
    """SkillError if a script imports a part of Lockstep that a copy does not hold."""
    try:
        found = _imports(data)
    except SyntaxError as error:
        raise SkillError(f"{name}:{error.lineno}: {error.msg}", remedy="lockstep validate") from error
    held = {*modules(), *FACADE}
    # An installation has the package beside all others, which are not looked for there.
    own = {one: _defining().get(one, one) for one in found if one.partition(".")[0] in ("skills", "lockstep")}
    missing = [one for one, module in own.items() if _file_of(module) and module not in held]
    if missing:
        raise SkillError(
            f"{name} imports {min(missing)}, which is no part of what prints steps, and is not in a copy",
            remedy="import what docs/authoring.md names",
        )


@cache
def _defining() -> dict[str, str]:
    """The module of the library that defines each name of the package ``lockstep``: what it shows a type checker."""
    nodes = ast.walk(ast.parse(source.read(_file_of("lockstep"))))
    shown = [node for node in nodes if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("skills.")]
    return {f"lockstep.{alias.name}": node.module or "" for node in shown for alias in node.names}


def _check_place(place: str, replace: bool) -> None:
    if not os.path.lexists(place):
        return
    if os.path.islink(place) or not os.path.isdir(place):
        raise RefusedError(f"{place} is in the way, and is no folder", remedy="move it away, or --to DIR")
    if not source.is_copy(place):
        raise RefusedError(f"{place} exists, and is no copy that export made", remedy="move it away, or --to DIR")
    if not replace:
        raise RefusedError(f"{place} exists already, and nothing is overwritten", remedy="--force, or --to DIR")


def _in_rooms() -> Iterator[str]:
    lib = os.path.join(source.package(), "lib")
    for room in ROOMS:
        for path in source.walk(os.path.join(lib, room)):
            if path.endswith(".py"):
                parts = os.path.relpath(path, lib)[: -len(".py")].split(os.sep)
                module = ".".join(["skills", "lib", *parts]).removesuffix(".__init__")
                if not _is_left_out(module):
                    yield module


def _imports(data: bytes) -> set[str]:
    """Every module, and every name that may be a module, that a source imports, except for type checkers alone."""
    found: set[str] = set()
    todo: list[ast.AST] = [ast.parse(data)]
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
    return module.startswith(LEFT_OUT) and module != REGISTRATION


def _file_of(module: str) -> str:
    """The file of a module of the package; empty if there is none of that name, or only a folder without a module."""
    place = os.path.join(os.path.dirname(source.package()), *module.split("."))
    for path in (place + ".py", os.path.join(place, "__init__.py")):
        if os.path.isfile(path):
            return path
    return ""


def _plain(name: str, data: bytes) -> tuple[str, bytes]:
    """A file under a name without an underscore in front: the ``__init__.py`` of a package is a module of its name."""
    if not name.endswith("/__init__.py"):
        return name, data
    # Before all but the docstring and what must come first: it may import modules of the package.
    first = [node for node in ast.parse(data).body[:2] if isinstance(node, ast.Expr) or _is_future(node)]
    lines = data.split(b"\n")
    at = max((node.end_lineno or 0 for node in first), default=0)
    return name.replace("/__init__.py", ".py"), b"\n".join([*lines[:at], _PATH, *lines[at:]])


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _adapted(name: str, own: dict[str, bytes]) -> bytes:
    """A file as it is in the copy: a script climbs to the skill's own folder, not to the folder of all skills."""
    data = own[name]
    if name == "SKILL.md":
        return data.replace(_NEEDS_PACKAGE, _NEEDS_PYTHON)
    if not name.startswith("scripts/") or not name.endswith(".py"):
        return data
    check_imports(name, data)
    if source.is_entry(name, own) and not source.CLIMB.search(data):
        raise SkillError(
            f"{name} has another head than entry scripts have, and would not find its copy of Lockstep",
            remedy="give it the head that the docstring of skills/bootstrap.py shows",
        )
    # The script's own folder counts, too; an older head imports the module by its former name.
    data = data.replace(b"from skills._bootstrap import", b"from skills.bootstrap import")
    return source.CLIMB.sub(_CLIMB % (name.count("/") + 1), data, count=1)
