"""The floors of the house: a lower one never imports a higher one, and each library has its own room."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LIB = ROOT / "skills" / "lib"
MODULES = sorted(LIB.rglob("*.py"))

# Each floor with what it may import; one that is not named may be imported by none of these.
ALLOWED: dict[str, set[str]] = {
    "ground": set(),
    "schema": {"ground"},
    "workflow": {"ground"},
    "validation": {"ground", "schema", "workflow", "skillfile", "runtime"},
    "skillfile": {"ground", "workflow", "runtime"},
    "ledger": {"ground", "schema", "workflow"},
    "runtime": {"ground", "workflow", "ledger"},
    "hosts": {"ground", "workflow", "ledger", "runtime", "skillfile"},
    "testing": {"ground", "workflow", "ledger", "runtime", "skillfile", "validation"},
    "commands": {"hosts", "ground", "workflow", "ledger", "runtime", "skillfile", "testing", "validation"},
}
# The one way up: registration asks the validator where a graph has no seal.
DOORS = {"workflow/seal.py": {"validation"}}
ROOMS = {
    "networkx": ("workflow/validation",),
    "lxml": ("testing", "workflow/validation", "commands/walking", "commands/tracing"),
    "yaml": ("skillfile",),
    "click": ("commands",),
    "rich": ("commands",),
    "hypothesis": ("testing",),
    "pytest": ("testing",),
    "mcp": ("hosts/mcp",),
    "anyio": ("hosts/mcp",),
    "uvicorn": ("hosts/mcp",),
    "starlette": ("hosts/mcp",),
    "jsonschema": (),
}
# What a skill may import of the library.
PUBLIC = {
    "skills.bootstrap",
    "skills.lib.checks",
    "skills.lib.conventions",
    "skills.lib.errors",
    "skills.lib.git",
    "skills.lib.ledger",
    "skills.lib.paths",
    "skills.lib.prompts",
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


def imports(path: Path) -> set[str]:
    """Every module that a file imports, anywhere in it; what a skill's own folder of modules has inside is left out."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 or LIB not in path.parents, f"{path}: relative import"
            if node.level == 0:
                found |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def floor(module: str) -> str:
    """The floor that ``skills.lib…`` stands on."""
    parts = module.split(".")
    if parts[2:4] == ["workflow", "validation"]:
        return "validation"
    return parts[2] if len(parts) > 2 and (LIB / parts[2]).is_dir() else "ground"


def test_every_floor_is_named() -> None:
    folders = {path.name for path in LIB.iterdir() if path.is_dir() and (path / "__init__.py").exists()}
    assert folders <= set(ALLOWED)
    assert len(MODULES) > 50


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(LIB)))
def test_no_floor_imports_a_higher_one(path: Path) -> None:
    own = floor(".".join(("skills", "lib", *path.relative_to(LIB).parts)).removesuffix(".py"))
    reached = {floor(module) for module in imports(path) if module.startswith("skills.lib.")}
    assert reached - {own} <= ALLOWED[own] | DOORS.get(path.relative_to(LIB).as_posix(), set())


@pytest.mark.parametrize("library", ROOMS)
def test_each_library_has_its_room(library: str) -> None:
    for path in [*MODULES, *sorted((ROOT / "skills").glob("*.py"))]:
        if any(module.partition(".")[0] == library for module in imports(path)):
            place = path.relative_to(LIB).as_posix()
            assert place.startswith(ROOMS[library]), f"{place} imports {library}"


@pytest.mark.parametrize("path", sorted(ROOT.glob("skills/*/scripts/**/*.py")), ids=lambda path: path.name)
def test_a_skill_imports_only_public_names(path: Path) -> None:
    for module in imports(path):
        if module.startswith("skills"):
            assert any(module == name or module.startswith(f"{name}.") for name in PUBLIC), module
            assert not module.rpartition(".")[2].startswith("_")


def test_the_ground_floor_reads_and_writes_nothing() -> None:
    """The engine is pure: no files, no clock, no database, no chance."""
    pure = "engine people calling types requirements core state values quality children document".split()
    for name in pure:
        found = imports(LIB / "workflow" / f"{name}.py")
        assert not {"os", "time", "random", "sqlite3", "subprocess", "io", "pathlib"} & found, name
        source = (LIB / "workflow" / f"{name}.py").read_text(encoding="utf-8")
        assert " open(" not in source, name


@pytest.mark.parametrize(
    "module, names",
    [
        ("skills.lib.runtime", ["Desk", "Reply", "main"]),
        ("skills.lib.ledger", ["Event", "Ledger", "Stale", "new_id"]),
        (
            "skills.lib.testing",
            ["Agent", "Block", "InProcess", "Session", "Shell", "any_of", "every_transition", "every_walk", "parse"],
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
