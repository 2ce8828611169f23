"""What a tree of skills holds, counted, as data, as a table, and as the page MIGRATION_STATUS.md."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skills.lib.commands.console.screen import counted, one_line
from skills.lib.commands.queries import coverage, skills
from skills.lib.errors import UsageError
from skills.lib.model.steps import Workflow
from skills.lib.model.types import Person
from skills.lib.skillfile import SkillFolder, check_specification, discover
from skills.lib.testing.walks import Unplannable, every_walk
from skills.lib.validation import registration

_Routes = Mapping[str, frozenset[tuple[str, str]]]

CATALOGUE = "catalogue.json"
# The purpose of a skill that no catalogue names: so many characters of its description.
PURPOSE = 100

FILE = "MIGRATION_STATUS.md"
SECTION = "skills"
HEADINGS = ("skill", "purpose", "workflows (steps)", "gates", "transitions tested", "SKILL.md", "sealed")
MEANING = (
    "A transition is one route of a graph: a step with an outcome. Tested are those that a test of this tree takes by\n"
    "the commands that the steps print: those on the walks of `skills.lib.testing.every_transition`, as pytest\n"
    "collects them. Whether they pass is for the test run to say. Sealed: the workflow ships the proof that its graph\n"
    "is valid."
)
_NEW = f"""# Migration status

What stands between the two marks is made by `lockstep status --write`.

<!-- {SECTION} -->

<!-- /{SECTION} -->
"""


@dataclass(frozen=True)
class WorkflowStatus:
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
class SkillStatus:
    """One skill: ``path`` is None if the catalogue names it and the tree has none; ``faults`` are of SKILL.md."""

    name: str
    purpose: str
    path: str | None = None
    faults: int = 0
    workflows: tuple[WorkflowStatus, ...] = field(default=())

    @property
    def broken(self) -> str:
        """Why a module of it registers no workflow; empty if each does."""
        return next((one.error for one in self.workflows if not one.name), "")

    @property
    def migrated(self) -> bool:
        """True if the skill is made of workflows that can be loaded."""
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


def take(root: str, taken: coverage.Coverage | None = None) -> list[SkillStatus]:
    """Every skill of the catalogue in its order, then those that the tree has besides, by path.

    ``taken`` is what the tests of the tree take (default: it is looked for).
    """
    known = catalogue(root)
    routes = (taken or coverage.take(root)).routes
    found = discover(root)
    there = {folder.name for folder in found}
    order = {name: at for at, name in enumerate(known)}
    statuses = [_status(folder, known.get(folder.name), routes) for folder in found]
    statuses += [SkillStatus(name, purpose) for name, purpose in known.items() if name not in there]
    return sorted(statuses, key=lambda one: (order.get(one.name, len(order)), one.path or ""))


def catalogue(root: str) -> dict[str, str]:
    """The skills that there are to be, each with its purpose; empty if the tree has no ``catalogue.json``.

    Raises UsageError if the file is not one JSON object of texts.
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


def _status(folder: SkillFolder, purpose: str | None, routes: _Routes) -> SkillStatus:
    faults = sum(problem.severity == "error" for problem in check_specification(folder.path))
    workflows = tuple(_status_of(entry, routes) for entry in skills.load(folder))
    return SkillStatus(folder.name, purpose or _purpose(folder), str(folder.path), faults, workflows)


def _purpose(folder: SkillFolder) -> str:
    text = " ".join(folder.loaded.description.split()) if folder.loaded else ""
    first = text.partition(". ")[0].rstrip(".")
    return first if len(first) <= PURPOSE else first[: PURPOSE - 1].rstrip() + "…"


def _status_of(entry: skills.Loaded, routes: _Routes) -> WorkflowStatus:
    workflow = entry.workflow
    if workflow is None:
        return WorkflowStatus(entry.file, error=str(entry.error).partition("\n")[0])
    taken = routes.get(os.path.realpath(entry.script), frozenset()) if entry.script else frozenset()
    every = {(step.id, outcome.value) for step in workflow.steps for outcome in step.next}
    return WorkflowStatus(
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
    """Why no walks can be planned that take every route; empty if they can."""
    try:
        every_walk(workflow)
    except Unplannable as error:
        return str(error)
    return ""


def _is_sealed(workflow: Workflow, file: str) -> bool:
    """True if the workflow ships a good seal beside it."""
    try:
        with open(registration.beside(workflow, file), encoding="ascii") as kept:
            return kept.read() == registration.text(workflow)
    except (OSError, UnicodeDecodeError):
        return False


def summary(statuses: Sequence[SkillStatus]) -> str:
    """How many skills are Workflows, and what those hold, in one sentence."""
    there = sum(one.migrated for one in statuses)
    numbers = {
        name: sum(one.total(name) for one in statuses)
        for name in ("steps", "reviews", "questions", "transitions", "tested")
    }
    workflows = sum(bool(entry.name) for one in statuses for entry in one.workflows)
    return (
        f"{there} of {len(statuses)} skills are Workflows: {counted(workflows, 'workflow')}, "
        f"{counted(numbers['steps'], 'step')}, {counted(numbers['reviews'], 'review loop')}, "
        f"{counted(numbers['questions'], 'question')} to a person; "
        f"{numbers['tested']} of {numbers['transitions']} transitions are taken by tests."
    )


def rows(statuses: Sequence[SkillStatus], named: int | None = None) -> list[list[str]]:
    """One row for each skill, as HEADINGS name its cells; of a skill with more than ``named`` workflows, the number."""
    return [
        [one.name, one.purpose, _state(one, named), _gates(one), _tested(one), _valid(one), _sealed(one)]
        for one in statuses
    ]


def page(old: str, statuses: Sequence[SkillStatus]) -> str:
    """The page with a new generated section; ValueError if it has no such section. An empty page gets one."""
    lines = ["| " + " | ".join(HEADINGS) + " |", "|---" * len(HEADINGS) + "|"]
    lines += ["| " + " | ".join(_cell(text) for text in row) + " |" for row in rows(statuses)]
    return section(old or _NEW, SECTION, f"{summary(statuses)}\n\n{MEANING}\n\n" + "\n".join(lines))


def section(text: str, name: str, content: str) -> str:
    """The text with new content between ``<!-- name -->`` and ``<!-- /name -->``; ValueError if they are missing."""
    pattern = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)", re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"there is no section {name}")
    return pattern.sub(lambda found: f"{found[1]}\n{content}\n{found[2]}", text, count=1)


def _state(one: SkillStatus, named: int | None) -> str:
    if one.path is None:
        return "not yet"
    if not one.workflows:
        return "no workflow"
    if one.migrated and named is not None and len(one.workflows) > named:
        return f"{len(one.workflows)} workflows ({one.total('steps')})"
    names = ", ".join(f"{entry.name} ({entry.steps})" for entry in one.workflows if entry.name)
    return names if one.migrated else "; ".join(part for part in (names, "broken") if part)


def _gates(one: SkillStatus) -> str:
    counts = [counted(number, word) for word in ("review", "question") if (number := one.total(f"{word}s"))]
    return ", ".join(counts)


def _tested(one: SkillStatus) -> str:
    return f"{one.total('tested')} of {one.total('transitions')}" if one.workflows else ""


def _valid(one: SkillStatus) -> str:
    if one.path is None:
        return ""
    return counted(one.faults, "error") if one.faults else "valid"


def _sealed(one: SkillStatus) -> str:
    if not one.workflows:
        return ""
    number, of = one.total("sealed"), len(one.workflows)
    return "yes" if number == of else f"{number} of {of}" if number else "no"


def _cell(text: str) -> str:
    """The text as one cell of a Markdown table, whatever it holds."""
    return one_line(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`")
