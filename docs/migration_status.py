"""The table of MIGRATION_STATUS.md: what each skill of the catalogue has, counted from the tree."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skills.lib import paths
from skills.lib.model.steps import Workflow
from skills.lib.model.types import Person
from skills.lib.runtime import loading
from skills.lib.skillfile import check_specification
from skills.lib.skillfile.discovery import graphs_in
from skills.lib.validation import registration

SKILLS = Path(__file__).resolve().parent.parent / "skills"
# Every skill that Lockstep is to have, and what it is for.
CATALOGUE: dict[str, str] = json.loads((SKILLS / "catalogue.json").read_text(encoding="utf-8"))
HEADINGS = ("skill", "purpose", "workflows (steps)", "gates", "transitions tested", "SKILL.md", "sealed")
MEANING = (
    "A transition is one route of a graph: a step with an outcome. Tested are those on the walks that\n"
    "[tests/skills/test_transitions.py](tests/skills/test_transitions.py) takes by the commands that the steps print.\n"
    "Sealed: the workflow ships the proof that its graph is valid."
)


@dataclass(frozen=True)
class Graph:
    """One workflow of a skill, with its module and the routes of it that tests take."""

    workflow: Workflow
    module: Path
    tested: frozenset[tuple[str, str]]

    @property
    def routes(self) -> set[tuple[str, str]]:
        """The transitions of the graph: pairs of step and outcome."""
        return {(step.id, outcome.value) for step in self.workflow.steps for outcome in step.next}

    @property
    def is_sealed(self) -> bool:
        """True if the workflow ships a good seal."""
        seal = Path(registration.beside(self.workflow, str(self.module)))
        return seal.exists() and seal.read_text(encoding="ascii") == registration.text(self.workflow)


def content() -> str:
    """What is between the marks of the page: a summary, what the columns mean, and one row for each skill."""
    graphs = {name: list(_graphs(name)) for name in CATALOGUE}
    every = [graph for found in graphs.values() for graph in found]
    steps = [step for graph in every for step in graph.workflow.steps]
    summary = (
        f"{sum(map(bool, graphs.values()))} of {len(CATALOGUE)} skills are Workflows: {len(every)} workflows, "
        f"{len(steps)} steps, {_gates(every).replace('reviews', 'review loops')} to a person; "
        f"{_tested(every)} transitions are taken by tests."
    )
    lines = ["| " + " | ".join(HEADINGS) + " |", "|---" * len(HEADINGS) + "|"]
    lines += ["| " + " | ".join(_row(name, found)) + " |" for name, found in graphs.items()]
    return f"{summary}\n\n{MEANING}\n\n" + "\n".join(lines)


def _graphs(skill: str) -> Iterator[Graph]:
    from tests.skills.test_transitions import WALKS

    modules = graphs_in(SKILLS / skill)
    for module in sorted(modules, key=lambda one: loading.load_workflow(str(one)).name != skill):
        script = module.with_name(module.name.removesuffix(paths.MODULE).removesuffix(paths.COMPILED) + ".py")
        legs = [leg for walk in WALKS.get(script, ()) for leg in walk.legs]
        tested = frozenset((leg.step, leg.route.value) for leg in legs)
        yield Graph(loading.load_workflow(str(module)), module, tested)


def _row(name: str, graphs: list[Graph]) -> list[str]:
    names = ", ".join(f"{graph.workflow.name} ({len(graph.workflow.steps)})" for graph in graphs)
    faults = sum(problem.severity == "error" for problem in check_specification(SKILLS / name))
    sealed = sum(graph.is_sealed for graph in graphs)
    return [
        name,
        CATALOGUE[name],
        names or "not yet",
        _gates(graphs),
        _tested(graphs),
        f"{faults} errors" if faults else "valid",
        "yes" if sealed == len(graphs) else f"{sealed} of {len(graphs)}",
    ]


def _gates(graphs: list[Graph]) -> str:
    steps = [step for graph in graphs for step in graph.workflow.steps]
    counts = {
        "review": sum(step.gate is not None for step in steps),
        "question": sum(isinstance(step.handler, Person) for step in steps),
    }
    return ", ".join(f"{number} {noun}{'s' * (number != 1)}" for noun, number in counts.items() if number)


def _tested(graphs: list[Graph]) -> str:
    routes = [graph.routes for graph in graphs]
    taken = sum(len(graph.routes & graph.tested) for graph in graphs)
    return f"{taken} of {sum(map(len, routes))}"
