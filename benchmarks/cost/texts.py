"""The frozen texts: what the agent reports for each step, and what a reviewer states and judges, apart from form."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.cost.joined import JOINED
from benchmarks.cost.renamed import FORMER, FORMER_WORKFLOW

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).with_name("texts")


class Missing(Exception):
    """A block asks for something that no text says."""


class Point(NamedTuple):
    """One thing that a reviewer states and judges; ``rounds`` has the judgement of each review, the last for the rest.

    ``step`` made it, ``kind`` and ``targets`` name the check that it answers, if there are checks, and
    ``fixed`` the file in which a fault is put right.
    """

    id: str
    step: str
    kind: str
    scope: str
    targets: list[str]
    check: str
    severity: str
    fixed: str
    rounds: list[dict[str, Any]]

    def judged(self, number: int) -> dict[str, Any]:
        """Status, place and finding in the review of that number, from 1."""
        return {"status": "PASS", "place": "", "finding": "", **self.rounds[min(number, len(self.rounds)) - 1]}

    def is_told_in(self, text: str) -> bool:
        """True if a text names what was stated, or how it was found wrong."""
        findings = [one["finding"].strip()[:50] for one in self.rounds if one.get("finding")]
        return any(part in text for part in (self.check, *findings))


class Texts:
    """The texts of one skill.

    A table ``[workflow.step]`` holds the values of a step by name; ``writes``, files that are written before the report
    (@resources/x is copied from the skill); ``run``, scripts of the skill that the step may say to run; ``answer`` to a
    person's question; ``none``, why nothing is stated. Of an array ``[[workflow.step]]`` each visit takes the next, and
    the last serves for those after. ``["workflow@begins".step]`` is for a sub-agent whose target begins so. ``[files]``
    are more files of the project, and ``[changed]`` those that were written after its commit.

    A file with ``of`` is another walk of the skill of that name: what it does not say, the texts of that skill say; and
    a value ``{from = ["table", "step", "name"]}`` is theirs.
    """

    def __init__(self, walk: str) -> None:
        data = _loaded(walk)
        self.skill: str = data.pop("of", walk)
        if self.skill != walk:
            others = _loaded(self.skill)
            del others["open"]
            data = {**others, **_taken_over(data, others)}
        self.opened: list[dict[str, Any]] = data.pop("open")
        self.files: dict[str, str] = {**project_files(), **data.pop("files", {})}
        self.changed: dict[str, str] = data.pop("changed", {})
        self.said: dict[str, Any] = data

    def step(self, workflow: str, target: str, step: str, visit: int) -> Mapping[str, Any]:
        """What is said in a step, at its visit of that number, from 1; empty if nothing is."""
        return {**self._former(workflow, target, step, visit), **self._own(workflow, target, step, visit)}

    def _own(self, workflow: str, target: str, step: str, visit: int) -> Mapping[str, Any]:
        """What the texts say under the name of the step itself."""
        found: Any = {}
        for key in self._keys(workflow, target):
            found = found or self.said[key].get(step, {})
        if isinstance(found, list):
            found = found[min(visit, len(found)) - 1]
        assert isinstance(found, dict)
        return found

    def _former(self, workflow: str, target: str, step: str, visit: int) -> dict[str, Any]:
        """What steps that are no more said of the fields of this one."""
        said: dict[str, Any] = {}
        for name, steps in FORMER.get(f"{workflow}.{step}", {}).items():
            for former in [steps] if isinstance(steps, str) else steps:
                table, _, path = former.rpartition("/")
                old_step, _, old_name = path.partition(".")
                speaks_for, _, of = table.partition("@")
                given = self._own(speaks_for or workflow, of if table else target, old_step, visit)
                if (old_name or name) in given:
                    said[name] = _both(said.get(name), given[old_name or name])
        return said

    def points(self, workflow: str, target: str) -> list[Point]:
        """What a reviewer states, in the order of its steps."""
        given: list[list[dict[str, Any]]] = [self.said[key].get("points", []) for key in self._keys(workflow, target)]
        rows = next(filter(None, given), [])
        joined = JOINED.get(workflow, {})
        return [
            Point(
                row.get("id", f"P-{number:02}"),
                joined.get(row.get("step", ""), row.get("step", "")),
                row.get("kind", ""),
                row["scope"],
                row.get("targets", []),
                row["check"],
                row["severity"],
                row.get("fixed", ""),
                row.get("rounds", [row]),
            )
            for number, row in enumerate(rows, 1)
        ]

    def every_point(self) -> list[Point]:
        """The points of all reviewers."""
        return [point for key in self.said for point in self.points(*key.partition("@")[::2])]

    def table(self, workflow: str, target: str) -> str:
        """The table that speaks for a workflow with that target, by which its visits are counted."""
        return next(iter(self._keys(workflow, target)), workflow)

    def _keys(self, workflow: str, target: str) -> list[str]:
        """The tables of a workflow, that of the target first."""
        workflow = FORMER_WORKFLOW.get(workflow, workflow)
        own = [key for key in self.said if key.startswith(f"{workflow}@") and target.startswith(key.split("@")[1])]
        return [*own, *([workflow] if workflow in self.said else [])]


def _loaded(walk: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{walk}.toml").read_text(encoding="utf-8"))


def _both(one: Any, other: Any) -> Any:
    """Two values that former steps said as one: lists one after the other, files together."""
    if one is None:
        return other
    return {**one, **other} if isinstance(one, dict) else [*one, *other]


def _taken_over(said: Any, others: Any) -> Any:
    """What is said, with the values of others in place of references to them."""
    if isinstance(said, dict) and list(said) == ["from"]:
        for name in said["from"]:
            others = others[name]
        return others
    if isinstance(said, dict):
        return {name: _taken_over(value, others) for name, value in said.items()}
    return [_taken_over(one, others) for one in said] if isinstance(said, list) else said


@cache
def project_files() -> dict[str, str]:
    """The files of the project that every skill is walked on, by path."""
    data = tomllib.loads((FOLDER / "project.toml").read_text(encoding="utf-8"))
    return dict(data["files"].items())


def skills() -> list[str]:
    """The names of the skills that have texts."""
    return [name for name in walks() if Texts(name).skill == name]


def walks() -> list[str]:
    """The names of all walks: each skill, and further ways through one."""
    return sorted(path.stem for path in FOLDER.glob("*.toml") if path.stem != "project")
