"""The skills that the agents walk: those of the tree, and the small ones of this benchmark, written to a folder."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.adherence.workflows import WORKFLOWS
from skills.lib.runtime import loading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.adherence.edits import Edit
    from skills.lib.workflow.core import Workflow

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHIPPED = ("problem-analysis", "decision-critic", "codebase-analysis", "leon-writing-style")

ENTRY = """import sys

sys.path.insert(0, {root!r})

from skills.bootstrap import main

main(__file__)
"""
GRAPH = """from benchmarks.adherence import workflows
from skills.lib.workflow.core import register_workflow

register_workflow(workflows.WORKFLOWS[{skill!r}, {name!r}])
"""
EDITED = """from benchmarks.adherence import edits
from skills.lib.workflow.core import register_workflow

register_workflow(edits.{edit!r}.graph)
"""


class Skill(NamedTuple):
    """A skill to walk: its name, its entry script, its graph."""

    name: str
    script: str
    workflow: Workflow


def shipped() -> list[Skill]:
    """The skills of the tree."""
    folder = os.path.join(ROOT, "skills")
    return [_skill(name, os.path.join(folder, name, "scripts", name.replace("-", "_") + ".py")) for name in SHIPPED]


def small(folder: str) -> list[Skill]:
    """The skills of this benchmark, written into that folder."""
    for skill, name in WORKFLOWS:
        scripts = os.path.join(folder, skill, "scripts")
        os.makedirs(scripts, exist_ok=True)
        for file, text in ((f"{name}.py", ENTRY), (f"{name}_workflow.py", GRAPH)):
            with open(os.path.join(scripts, file), "w", encoding="utf-8") as opened:
                opened.write(text.format(root=ROOT, skill=skill, name=name))
    names = dict.fromkeys(skill for skill, _ in WORKFLOWS)
    return [_skill(name, os.path.join(folder, name, "scripts", f"{name}.py")) for name in names]


@contextlib.contextmanager
def edited(script: str, edit: Edit) -> Iterator[None]:
    """Rewrite the graph of a small skill's script while the body runs, and put it back."""
    path = script[: -len(".py")] + loading.SUFFIX
    with open(path, encoding="utf-8") as opened:
        text = opened.read()
    try:
        _rewrite(path, EDITED.format(edit=edit))
        yield
    finally:
        _rewrite(path, text)


def _rewrite(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as opened:
        opened.write(text)
    sys.modules.pop(loading.module_name(path), None)  # a process of its own would read the file too


def _skill(name: str, script: str) -> Skill:
    return Skill(name, script, loading.workflow_of_script(script))
