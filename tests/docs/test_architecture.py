"""The rooms import what docs/architecture.md says that they may, and nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

LIB = Path(__file__).resolve().parents[2] / "skills" / "lib"
FIRST = {"errors", "paths", "compact_json", "markers", "record", "field_checks", "reasons"}
ALLOWED = {
    "errors": FIRST,
    "paths": FIRST,
    "compact_json": FIRST,
    "markers": FIRST,
    "record": FIRST,
    "field_checks": FIRST,
    "reasons": set(),
    "passing": set(),
    "checks": {"passing", "reasons"},
    "conventions": FIRST,
    "schema": {"compact_json"},
    "roles": FIRST | {"conventions"},
    "prompts": FIRST | {"conventions"},
    "skillfile": FIRST | {"conventions", "prompts"},
    "workflow": FIRST,
    "workflow/formatters": FIRST | {"workflow"},
    "workflow/validation": FIRST
    | {"conventions", "passing", "prompts", "schema", "skillfile", "workflow", "workflow/formatters"},
    "git": {"errors"},
    "ledger": FIRST | {"git", "schema", "workflow"},
    "runtime": FIRST | {"ledger", "workflow", "workflow/formatters"},
}
ALLOWED["hosts"] = set(ALLOWED)
ALLOWED["testing"] = set(ALLOWED)
ALLOWED["commands"] = set(ALLOWED)
EXCEPTIONS = {("workflow/seal.py", "workflow/validation")}


def room(parts: list[str]) -> str:
    nested = parts[0] == "workflow" and len(parts) > 1 and parts[1] in ("formatters", "validation")
    return "/".join(parts[:2]) if nested else parts[0].removesuffix(".py")


def imported(tree: ast.Module) -> Iterator[str]:
    """The modules of skills.lib that are imported at run time."""
    skipped = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and ast.unparse(branch.test) == "TYPE_CHECKING"
        for statement in branch.body
        for node in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("skills.lib"):
            for alias in node.names:
                yield f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("skills.lib."))


@pytest.mark.parametrize("name", ALLOWED)
def test_the_room_imports_no_higher_one(name: str) -> None:
    found = set()
    for file in LIB.rglob("*.py"):
        parts = list(file.relative_to(LIB).parts)
        if room(parts) != name:
            continue
        for module in imported(ast.parse(file.read_text(encoding="utf-8"))):
            other = room(module.split(".")[2:])
            if other != name and ("/".join(parts), other) not in EXCEPTIONS:
                found.add(other)
    assert found <= ALLOWED[name]


def test_every_room_is_on_the_page() -> None:
    page = (LIB.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = {room(list(file.relative_to(LIB).parts)) for file in LIB.rglob("*.py")} - {"__init__"}
    assert rooms == set(ALLOWED)
    for name in rooms:
        assert f"`{name}`" in page
