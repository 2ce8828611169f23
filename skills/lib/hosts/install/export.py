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

from skills.lib import files, paths
from skills.lib.errors import EnvironmentProblem, RefusedError, SkillError
from skills.lib.hosts.install import runtime, source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# The rooms that a step walks through, which a copy holds whole.
ROOMS = ("blocks", "compat", "engine", "ledger", "model", "runtime", "schema", "workflow")
# What else of the library a copy holds, beside the ground floor: its graphs are validated when it is made, and it looks
# at their seals alone. Roles are for hosts.
_SEALS = ("skills.lib.validation", "skills.lib.validation.registration")
# What evaluates the rules of a graph in YAML; a copy of another graph does without.
_RULES = tuple(
    f"skills.lib.guard{name and '.'}{name}"
    for name in " arithmetic comparing expressions failing functions moments plain_values truth values".split(" ")
)
_LEFT_OUT = (
    "skills.lib.roles",
    "skills.lib.gateway_results",
    "skills.lib.shell_words",
    "skills.lib.short_commands",
)
# For programs that call tools; no step needs them.
_OF_AGENTS = (
    "skills.lib.blocks.for_tools",
    "skills.lib.consents",
    "skills.lib.runtime.objectives",
    "skills.lib.runtime.plans",
    "skills.lib.runtime.reporting",
)
# Of the package lockstep: what serves its names, and the way in if another package skills is nearer on the path.
_FACADE = ("lockstep", "lockstep.bootstrap", "lockstep.library")
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
    return dict(sorted({**copied, **source.seals(folder, own), **vendored(), **_evaluator(own)}.items()))


def write_copy(place: str, contents: Mapping[str, bytes], replace: bool) -> None:
    """Write the files of a copy as the folder ``place``. Raises RefusedError if something else is there.

    An earlier copy is replaced with ``replace``. Raises EnvironmentProblem if the disk does not take the files; nothing
    is left behind then.
    """
    is_there = os.path.lexists(place)
    if is_there and (os.path.islink(place) or not os.path.isdir(place)):
        raise RefusedError(f"{place} is in the way, and is no folder", remedy="move it away, or --to DIR")
    if is_there and not source.is_copy(place):
        raise RefusedError(f"{place} exists, and is no copy that export made", remedy="move it away, or --to DIR")
    if is_there and not replace:
        raise RefusedError(f"{place} exists already, and nothing is overwritten", remedy="--force, or --to DIR")
    try:
        files.write_folder(place, contents, replace=is_there)
    except OSError as error:
        raise EnvironmentProblem(f"{place} cannot be written: {error.strerror}", remedy="--to DIR") from error


@cache
def vendored() -> dict[str, bytes]:
    """The packages ``skills``, as far as a step needs it, and ``lockstep``, by path below the copy."""
    whole = runtime.contents()
    held = dict(_plain(_package()[module], whole[_package()[module]]) for module in modules())
    conventions = {name: data for name, data in whole.items() if name.startswith("skills/conventions/")}
    return {**held, **conventions, "skills/LICENSE": whole["LICENSE"]}


def _evaluator(own: Mapping[str, bytes]) -> dict[str, bytes]:
    """What evaluates rules, by path below the copy, if a graph of the skill has rules."""
    if not any(name.endswith(paths.COMPILED) and b'"$kind":"Rules"' in data for name, data in own.items()):
        return {}
    whole = runtime.contents()
    return dict(_plain(_package()[module], whole[_package()[module]]) for module in _RULES)


@cache
def modules() -> tuple[str, ...]:
    """The modules of a copy, sorted: the bootstrap, the rooms of a step, and the ground floor that these stand on."""
    return tuple(sorted(filter(_is_held, _package())))


def _is_held(module: str) -> bool:
    below = module.removeprefix("skills.lib.")
    if below == module:
        return module in ("skills", "skills.bootstrap", "skills.lib", *_FACADE)
    if module in _OF_AGENTS:
        return False
    is_ground = "." not in below and not _package()[module].endswith("/__init__.py")
    return below.partition(".")[0] in ROOMS or module in _SEALS or (is_ground and module not in _LEFT_OUT)


@cache
def _package() -> dict[str, str]:
    """The file of each module of a runtime, by the module's name."""
    names = [name for name in runtime.contents() if name.endswith(".py")]
    return {name[: -len(".py")].replace("/", ".").removesuffix(".__init__"): name for name in names}


def check_imports(name: str, data: bytes) -> None:
    """SkillError if a script imports a part of Lockstep that a copy does not hold."""
    try:
        found = _imports(data)
    except SyntaxError as error:
        raise SkillError(f"{name}:{error.lineno}: {error.msg}", remedy="lockstep validate") from error
    missing = [one for one in found if _defining().get(one, one) in _package().keys() - {*modules(), *_RULES}]
    if missing:
        raise SkillError(
            f"{name} imports {min(missing)}, which is no part of what prints steps, and is not in a copy",
            remedy="import what docs/authoring.md names",
        )


@cache
def _defining() -> dict[str, str]:
    """The module of the library that defines each name of the package ``lockstep``: what it shows a type checker."""
    nodes = ast.walk(ast.parse(runtime.contents()["lockstep/__init__.py"]))
    shown = [node for node in nodes if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("skills.")]
    return {f"lockstep.{alias.name}": node.module or "" for node in shown for alias in node.names}


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


def _plain(name: str, data: bytes) -> tuple[str, bytes]:
    """A file under a name without an underscore in front: the ``__init__.py`` of a package is a module of its name."""
    if not name.endswith("/__init__.py"):
        return name, data
    # Before all but the docstring and what must come first: it may import modules of the package.
    first = [
        node
        for node in ast.parse(data).body[:2]
        if isinstance(node, ast.Expr) or (isinstance(node, ast.ImportFrom) and node.module == "__future__")
    ]
    lines = data.split(b"\n")
    at = max((node.end_lineno or 0 for node in first), default=0)
    return name.replace("/__init__.py", ".py"), b"\n".join([*lines[:at], _PATH, *lines[at:]])


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
