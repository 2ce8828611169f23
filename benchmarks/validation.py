"""What validating a graph costs, beside the bare networkx searches that it cannot do without."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

import networkx as nx

from benchmarks.graphs import edges, large_workflow
from benchmarks.report import Cell, Figures
from benchmarks.timing import medians
from skills.lib.validation.validator import validate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.options import Options
    from skills.lib.workflow.core import Workflow

# Steps, and rounds.
SIZES = ((40, 41), (1_000, 21), (100_000, 3))
QUICK_SIZES = ((40, 5), (1_000, 3))


def figures(options: Options) -> list[Figures]:
    """Validate graphs of several sizes by every rule."""
    sizes = QUICK_SIZES if options.quick else SIZES
    rows: list[list[Cell]] = []
    with options.progress("validation", len(sizes)) as tick:
        for steps, repeats in sizes:
            rows.append(_row(large_workflow(steps), repeats))
            tick()
    columns = ["steps", "edges", "validation ms", "searches ms", "ratio", "building and searches ms", "ratio to both"]
    notes = [
        "All rules on a valid graph. Searches: descendants of the start, ancestors of the end, strongly connected",
        "components, by networkx on a graph that is there; then the same with building it from the routes. Validation",
        "runs without garbage collection, and so do the searches here.",
    ]
    return [Figures("Validation", columns, rows, notes)]


def _row(workflow: Workflow, repeats: int) -> list[Cell]:
    routes = [(source, target) for source, _, target in edges(workflow)]
    graph: nx.DiGraph[str] = nx.DiGraph(routes)
    if [finding for finding in validate(workflow) if finding.severity == "error"]:
        raise RuntimeError("the graph that is to be measured is not valid")
    with no_collection():
        took = medians(
            {
                "validation": lambda: validate(workflow),
                "searches": lambda: search(graph, workflow.start),
                "built": lambda: search(nx.DiGraph(routes), workflow.start),
            },
            repeats,
        )
    whole, bare, built = took["validation"], took["searches"], took["built"]
    return [len(workflow.steps), len(routes), whole, bare, whole / bare, built, whole / built]


@contextmanager
def no_collection() -> Iterator[None]:
    """Turn garbage collection off for everything that is measured, as validation does for itself."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def search(graph: nx.DiGraph[str], start: str) -> tuple[int, int, int]:
    """The three searches: how many steps can be reached, can end, and how many components there are."""
    reached, ending = nx.descendants(graph, start), nx.ancestors(graph, "done")
    return len(reached), len(ending), len(list(nx.strongly_connected_components(graph)))
