from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from skills.lib.conventions import convention_names, convention_sections, get_convention
from skills.lib.errors import UsageError
from skills.lib.roles import TOOLS, get_role, role_names
from skills.lib.skillfile.frontmatter import parse_frontmatter
from skills.lib.workflow.types import AgentRole

ROOT = Path(__file__).resolve().parent.parent
ROLES = [role.value for role in AgentRole]
BODIES = [get_role(name).body for name in ROLES]
REGISTRY = json.loads((ROOT / "conventions" / "registry.json").read_text(encoding="utf-8"))
SOURCES = sorted((ROOT / "skills").glob("*/scripts/**/*.py"))


def test_every_role_has_a_definition_and_a_registry_entry_and_nothing_else_has() -> None:
    assert sorted(ROLES) == role_names() == sorted(REGISTRY)


@pytest.mark.req("W-16")
def test_every_convention_has_a_role_and_every_name_of_the_registry_is_known() -> None:
    assert sorted({name for names in REGISTRY.values() for name in names}) == convention_names()
    assert all(len(names) == len(set(names)) for names in REGISTRY.values())


@pytest.mark.parametrize("name", ROLES)
def test_a_definition_can_be_read_with_and_without_yaml(name: str) -> None:
    role = get_role(name)
    path = ROOT / "roles" / f"{name}.md"
    fields, _ = parse_frontmatter(path.read_text(encoding="utf-8").split("---\n", 2)[1], path)
    assert fields == {"name": name, "description": role.description, "tools": ", ".join(role.tools)}
    assert role.name == name
    assert 60 < len(role.description) <= 300
    assert "<" not in role.description


@pytest.mark.parametrize("name", ROLES)
def test_a_definition_holds_what_every_sub_agent_must_know(name: str) -> None:
    role = get_role(name)
    assert set(role.tools) <= set(TOOLS)
    assert not {"agent", "ask"} & set(role.tools)  # sub-agents start no sub-agents and ask no user
    assert any(tool.startswith("shell") for tool in role.tools)  # or it could not run the command it is given
    headings = [line for line in role.body.splitlines() if line.startswith("## ")]
    assert headings == ["## How you work", "## What good looks like", "## What you never do", "## What you return"]
    assert len(role.body) < 3_000
    shared = [(_part(body, "## How you work"), _part(body, "## What you never do").splitlines()[:5]) for body in BODIES]
    assert all(part == shared[0] for part in shared)
    assert shared[0][1][1].startswith("- Start sub-agents")
    assert shared[0][1][2].startswith("- Ask the user")


def test_who_reviews_and_who_explores_changes_nothing() -> None:
    for name in ("quality-reviewer", "explore", "architect"):
        assert not {"edit", "write"} & set(get_role(name).tools)


@pytest.mark.parametrize("name", ["", "Explore", "explore/../debugger", "../conventions/severity", "explorer"])
def test_an_unknown_role_is_refused_with_the_valid_ones(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        get_role(name)
    assert caught.value.valid == (
        "architect, debugger, developer, explore, general-purpose, quality-reviewer, technical-writer"
    )
    if name == "explorer":
        assert caught.value.what == "there is no role 'explorer'; did you mean explore?"


@pytest.mark.req("W-16")
def test_every_convention_that_a_workflow_injects_is_known() -> None:
    for path in SOURCES:
        for name, section in _injected(path):
            assert name in convention_names(), f"{path}: {name}"
            assert section is None or section in convention_sections(name), f"{path}: {section}"
            assert get_convention(name, section)


def _part(body: str, heading: str) -> str:
    return body.partition(f"{heading}\n")[2].partition("\n## ")[0]


def _injected(path: Path) -> list[tuple[str, str | None]]:
    """Each literal call of ``get_convention`` in a module."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "get_convention":
            given = [*node.args, *(word.value for word in node.keywords if word.arg == "section")]
            literal = [part.value for part in given if isinstance(part, ast.Constant)]
            if literal and literal[0] and len(literal) == len(given):
                found.append((str(literal[0]), str(literal[1]) if len(literal) > 1 else None))
    return found
