"""A skill folder in which a test writes workflow files and loads them as a step script would."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from skills.lib.validation.rule import Rule
from skills.lib.workflow.core import Workflow

HEAD = """from __future__ import annotations

from typing import Literal

from skills.lib.conventions import get_convention
from skills.lib.prompts import read_prompts, read_resource
from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.formatters import format_gate_step
from skills.lib.workflow.quality import review_loop
from skills.lib.workflow.requirements import Arg, Artifact, Command, Field
from skills.lib.workflow.types import AgentRole, Before, Rendered, Check, Dispatch, Gate, Outcome, Person

"""
HEAD_LINES = HEAD.count("\n")


def example(rule: Rule[Any], section: str = "Example") -> str:
    """The code of a section of a rule's page; an example in Markdown has fences of its own."""
    return rule.sections[section].partition("\n")[2].rpartition("\n```")[0] + "\n"


Load = Callable[..., tuple[Workflow, str]]


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    """The folder of a skill with one resource and one script for sub-agents."""
    folder = tmp_path / "tea-time"
    (folder / "scripts").mkdir(parents=True)
    (folder / "resources").mkdir()
    (folder / "resources" / "guide.md").write_text("Warm the pot.\n")
    (folder / "scripts" / "explore.py").write_text("")
    return folder


@pytest.fixture
def load(skill: Path) -> Iterator[Load]:
    """Write code (without its imports) to a workflow file and give back its WORKFLOW and the file."""
    loaded: list[str] = []

    def load(code: str, name: str = "tea_workflow") -> tuple[Workflow, str]:
        file = skill / "scripts" / f"{name}.py"
        file.write_text(HEAD + code)
        module_name = f"validation_case_{name}"
        spec = importlib.util.spec_from_file_location(module_name, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[module_name] = module
        loaded.append(module_name)
        spec.loader.exec_module(module)
        return module.WORKFLOW, str(file)

    yield load
    for module_name in loaded:
        sys.modules.pop(module_name, None)
