"""The floors of the house: a lower one never imports a higher one, and each library has its own room."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).resolve().parent.parent
LIB = ROOT / "skills" / "lib"
MODULES = sorted(LIB.rglob("*.py"))
OURS = [path for room in ("lockstep", "skills", "benchmarks", "tests") for path in (ROOT / room).rglob("*.py")]

# Each floor with what it may import; one that is not named may be imported by none of these.
ALLOWED: dict[str, set[str]] = {
    "ground": set(),
    "schema": {"ground"},
    "model": {"ground", "schema", "guard"},
    "engine": {"ground", "model"},
    "blocks": {"ground", "model", "engine"},
    "ledger": {"ground", "schema", "model", "engine"},
    "compat": {"ground"},
    "guard": {"ground"},
    "runtime": {"ground", "schema", "model", "engine", "blocks", "ledger"},
    "skillfile": {"ground", "guard", "model", "runtime"},
    "graphfile": {"ground", "guard", "model", "runtime", "skillfile"},
    "gateway": {"ground", "schema", "model", "ledger", "skillfile"},
    "validation": {"ground", "schema", "guard", "model", "engine", "blocks", "skillfile", "graphfile", "runtime"},
    "workflow": {"ground", "model", "engine", "blocks", "compat", "validation"},
}
ALLOWED["layers"] = set(ALLOWED) - {"gateway", "workflow"}
ALLOWED["hosts"] = set(ALLOWED) - {"workflow"}
ALLOWED["agent"] = set(ALLOWED) - {"workflow"}
ALLOWED["testing"] = set(ALLOWED) - {"hosts", "agent", "layers"}
ALLOWED["fleet"] = set(ALLOWED) - {"workflow", "testing"}
ALLOWED["views"] = set(ALLOWED) - {"workflow", "testing"}
ALLOWED["web"] = set(ALLOWED) - {"workflow", "testing"}
ALLOWED["commands"] = set(ALLOWED)
ROOMS = {
    "networkx": ("validation", "views/drawing"),
    "lxml": ("testing", "validation", "commands/walking", "views/drawing", "web/plots"),
    "yaml": ("skillfile", "guard", "graphfile"),
    "click": ("commands",),
    "rich": ("commands", "views/drawing"),
    "hypothesis": ("testing",),
    "pytest": ("testing",),
    "dbos": ("fleet",),
    "filelock": ("agent", "fleet"),
    "langchain": ("agent",),
    "langchain_anthropic": ("agent",),
    "langchain_core": ("agent", "fleet"),
    "langchain_openai": ("agent",),
    "langgraph": ("agent",),
    "mcp": ("hosts/mcp",),
    "sqlalchemy": ("fleet",),
    "anyio": ("hosts/mcp", "web"),
    "uvicorn": ("hosts/mcp", "web"),
    "starlette": ("hosts/mcp", "web"),
    "jinja2": ("views/page", "web"),
    "markupsafe": ("views/page", "web"),
    "jsonschema": (),
    "markdown_it": ("layers",),
    "psycopg": ("ledger/postgres",),
}
# What a skill may import of the library.
PUBLIC = {
    "skills.bootstrap",
    "skills.lib.checks",
    "skills.lib.conventions",
    "skills.lib.errors",
    "skills.lib.files",
    "skills.lib.git",
    "skills.lib.ledger",
    "skills.lib.paths",
    "skills.lib.prompts",
    "skills.lib.rows",
    "skills.lib.runtime",
    "skills.lib.schema",
    "skills.lib.workflow.choice",
    "skills.lib.workflow.core",
    "skills.lib.workflow.formatters",
    "skills.lib.workflow.legacy",
    "skills.lib.workflow.quality",
    "skills.lib.workflow.requirements",
    "skills.lib.workflow.types",
}


@cache
def imports(path: Path) -> frozenset[str]:
    """Every module that a file imports, anywhere in it; what a skill's own folder of modules has inside is left out."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 or LIB not in path.parents, f"{path}: relative import"
            if node.level == 0:
                found |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def floor(module: str) -> str:
    """The floor that ``skills.lib…`` stands on."""
    parts = module.split(".")
    return parts[2] if len(parts) > 2 and (LIB / parts[2]).is_dir() else "ground"


def test_every_floor_is_named() -> None:
    folders = {path.name for path in LIB.iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    assert folders <= set(ALLOWED)
    assert len(MODULES) > 50


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(LIB)))
def test_no_floor_imports_a_higher_one(path: Path) -> None:
    own = floor(".".join(("skills", "lib", *path.relative_to(LIB).parts)).removesuffix(".py"))
    reached = {floor(module) for module in imports(path) if module.startswith("skills.lib.")}
    assert reached - {own} <= ALLOWED[own]


@pytest.mark.parametrize("library", ROOMS)
def test_each_library_has_its_room(library: str) -> None:
    for path in [*MODULES, *sorted((ROOT / "skills").glob("*.py"))]:
        if any(module.partition(".")[0] == library for module in imports(path)):
            place = path.relative_to(LIB).as_posix()
            assert place.startswith(ROOMS[library]), f"{place} imports {library}"


@pytest.mark.parametrize("path", sorted(ROOT.glob("skills/*/scripts/**/*.py")), ids=lambda path: path.name)
def test_a_skill_imports_only_public_names(path: Path) -> None:
    for module in imports(path):
        if module.startswith("skills") and module != "skills.lib":  # of the package itself a name is imported
            assert any(module == name or module.startswith(f"{name}.") for name in PUBLIC), module
            assert not module.rpartition(".")[2].startswith("_")


def test_the_library_imports_nothing_of_its_facade() -> None:
    for path in [*MODULES, *sorted((ROOT / "skills").glob("*.py"))]:
        assert not any(module.partition(".")[0] == "lockstep" for module in imports(path) if module), path


PURE = [
    path for path in MODULES if path.parent.name in ("model", "engine", "blocks") and path.name != "command_line.py"
]


@pytest.mark.parametrize("path", PURE, ids=lambda path: str(path.relative_to(LIB)))
def test_what_decides_and_what_is_printed_reads_and_writes_nothing(path: Path) -> None:
    """No files, no clock, no database, no chance."""
    assert not {"os", "time", "random", "sqlite3", "subprocess", "io", "pathlib"} & imports(path)
    assert " open(" not in path.read_text(encoding="utf-8")


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports inside functions count, and those for type checkers alone."""
    files = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in OURS}
    graph: nx.DiGraph[str] = nx.DiGraph()
    for module, path in files.items():
        found = imports(path) & set(files)
        # A name that is imported from a package may be a module of it: then only that module is meant.
        packages = {name for name in found if any(other.startswith(f"{name}.") for other in found)}
        graph.add_edges_from((module, other) for other in found - packages - {module})
    assert [sorted(circle) for circle in nx.strongly_connected_components(graph) if len(circle) > 1] == []


@pytest.mark.parametrize(
    "module, names",
    [
        ("skills.lib.runtime", ["Response", "Runner", "main"]),
        ("skills.lib.ledger", ["Ledger", "Stale", "is_shared", "keyed_id", "new_id"]),
        (
            "skills.lib.testing",
            [
                "Agent",
                "InProcess",
                "PrintedBlock",
                "Session",
                "Shell",
                "any_of",
                "every_transition",
                "every_walk",
                "parse",
            ],
        ),
    ],
)
def test_exported_members(module: str, names: list[str]) -> None:
    import importlib

    package = importlib.import_module(module)
    assert package.__all__ == names
    for name in names:
        assert getattr(package, name).__doc__
    with pytest.raises(AttributeError):
        package.no_such_name  # noqa: B018
