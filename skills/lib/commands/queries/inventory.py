"""What a tree of skills holds, counted: workflows, steps, gates, transitions and how many of them are tested."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from skills.lib.commands.queries import skills, tested
from skills.lib.errors import UsageError
from skills.lib.model.steps import Workflow
from skills.lib.model.types import Person
from skills.lib.skillfile import SkillFolder, check_specification, discover
from skills.lib.testing.walks import Unplannable, every_walk
from skills.lib.validation import registration

_Routes = Mapping[str, frozenset[tuple[str, str]]]

CATALOGUE = "catalogue.json"
# What is told of a skill that no catalogue names, in characters of its description.
PURPOSE = 100


@dataclass(frozen=True)
class Counted:
    """One workflow module: ``error`` says why it is none, or why its walks cannot be planned.

    A transition is a route of the graph, a step with an outcome. ``tested`` counts those that a test of the tree takes
    from the entry script; a workflow without one has none.
    """

    file: str
    name: str = ""
    steps: int = 0
    reviews: int = 0
    questions: int = 0
    transitions: int = 0
    tested: int = 0
    sealed: bool = False
    error: str = ""


@dataclass(frozen=True)
class Standing:
    """One skill: ``path`` is None where the catalogue names it and the tree has none; ``faults`` are of SKILL.md."""

    name: str
    purpose: str
    path: str | None = None
    faults: int = 0
    workflows: tuple[Counted, ...] = field(default=())

    @property
    def broken(self) -> str:
        """Why a module of it registers no workflow; empty where each does."""
        return next((one.error for one in self.workflows if not one.name), "")

    @property
    def migrated(self) -> bool:
        """Whether the skill is made of workflows that can be loaded."""
        return bool(self.workflows) and not self.broken

    def total(self, what: str) -> int:
        """The sum of one number over its workflows."""
        return sum(getattr(one, what) for one in self.workflows)

    def as_data(self, root: str) -> dict[str, Any]:
        """The skill for a program, paths relative to the root."""
        return {
            "name": self.name,
            "purpose": self.purpose,
            "path": self.path and os.path.relpath(self.path, root),
            "workflow": self.migrated,
            "skill_md_faults": self.faults if self.path else None,
            "workflows": [{**vars(one), "file": os.path.relpath(one.file, root)} for one in self.workflows],
        }


def take(root: str, taken: tested.Tested | None = None) -> list[Standing]:
    """Every skill of the catalogue in its order, then those that the tree has besides, by path.

    ``taken`` is what the tests of the tree take (default: it is looked for).
    """
    known = catalogue(root)
    routes = (taken or tested.take(root)).routes
    found = discover(root)
    there = {folder.name for folder in found}
    order = {name: at for at, name in enumerate(known)}
    standings = [_standing(folder, known.get(folder.name), routes) for folder in found]
    standings += [Standing(name, purpose) for name, purpose in known.items() if name not in there]
    return sorted(standings, key=lambda one: (order.get(one.name, len(order)), one.path or ""))


def catalogue(root: str) -> dict[str, str]:
    """The skills that there are to be, each with its purpose; empty where the tree has no ``catalogue.json``.

    Raises UsageError where the file is not one JSON object of texts.
    """
    for path in (os.path.join(root, CATALOGUE), os.path.join(root, "skills", CATALOGUE)):
        if not os.path.isfile(path):
            continue
        try:
            with open(path, encoding="utf-8") as file:
                known = json.load(file)
        except (OSError, ValueError) as error:
            raise UsageError(f"{path} cannot be read: {error}", valid='{"skill": "what it is for"}') from error
        if not isinstance(known, dict) or not all(isinstance(text, str) for text in known.values()):
            raise UsageError(f"{path} is not a catalogue", valid='{"skill": "what it is for"}')
        return known
    return {}


def _standing(folder: SkillFolder, purpose: str | None, routes: _Routes) -> Standing:
    faults = sum(problem.severity == "error" for problem in check_specification(folder.path))
    counted = tuple(_counted(entry, routes) for entry in skills.load(folder))
    return Standing(folder.name, purpose or _purpose(folder), str(folder.path), faults, counted)


def _purpose(folder: SkillFolder) -> str:
    text = " ".join(folder.loaded.description.split()) if folder.loaded else ""
    first = text.partition(". ")[0].rstrip(".")
    return first if len(first) <= PURPOSE else first[: PURPOSE - 1].rstrip() + "…"


def _counted(entry: skills.Loaded, routes: _Routes) -> Counted:
    workflow = entry.workflow
    if workflow is None:
        return Counted(entry.file, error=str(entry.error).partition("\n")[0])
    taken = routes.get(os.path.realpath(entry.script), frozenset()) if entry.script else frozenset()
    every = {(step.id, outcome.value) for step in workflow.steps for outcome in step.next}
    return Counted(
        entry.file,
        workflow.name,
        len(workflow.steps),
        sum(step.gate is not None for step in workflow.steps),
        sum(isinstance(step.handler, Person) for step in workflow.steps),
        len(every),
        len(every & taken),
        _is_sealed(workflow, entry.file),
        _unwalkable(workflow) if entry.script else f"no entry script beside {os.path.basename(entry.file)}",
    )


def _unwalkable(workflow: Workflow) -> str:
    """Why no walks can be planned that take every route; empty where they can."""
    try:
        every_walk(workflow)
    except Unplannable as error:
        return str(error)
    return ""


def _is_sealed(workflow: Workflow, file: str) -> bool:
    """Whether the workflow ships a good seal beside it."""
    try:
        with open(registration.beside(workflow, file), encoding="ascii") as kept:
            return kept.read() == registration.text(workflow)
    except (OSError, UnicodeDecodeError):
        return False
