"""What drawing a large graph costs, and the share of its edges that the drawing shows, read back from its text."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from benchmarks.graphs import workflow_of_edges
from benchmarks.report import Cell, Figures
from benchmarks.timing import medians
from skills.lib.views.drawing import picture
from skills.lib.views.drawing.edges import Graph, of_workflow
from skills.lib.views.drawing.languages import dot, mermaid

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.options import Options

# Edges, and rounds.
SIZES = ((1_000, 21), (10_000, 5))
QUICK_SIZES = ((1_000, 1),)
WIDTH = 120
LISTED_NODE, LISTED_EDGE = re.compile(r"(?:\d+ )?(\S+)"), re.compile(r"    (\S+) -> (?:\d+ )?(\S+)")

Route = tuple[str, str, str]


def figures(options: Options) -> list[Figures]:
    """Draw graphs of several sizes in each form."""
    sizes = QUICK_SIZES if options.quick else SIZES
    rows: list[list[Cell]] = []
    with options.progress("drawing", len(sizes)) as tick:
        for count, repeats in sizes:
            rows += _rows(count, repeats)
            tick()
    notes = ["From the workflow to the text. In a terminal more than 60 boxes are a list of every edge."]
    return [Figures("Drawing", ["edges", "form", "ms", "edges in the text", "share drawn"], rows, notes)]


def _rows(count: int, repeats: int) -> list[list[Cell]]:
    workflow = workflow_of_edges(count)
    graph = of_workflow(workflow)
    writers: dict[str, Callable[[], str]] = {
        "mermaid": lambda: mermaid(of_workflow(workflow)),
        "dot": lambda: dot(of_workflow(workflow)),
        "terminal": lambda: in_terminal(of_workflow(workflow)),
    }
    took = medians(writers, repeats)
    rows: list[list[Cell]] = []
    for form, write in writers.items():
        shown = shown_edges(form, write(), graph)
        rows.append([len(graph.edges), form, took[form], shown, f"{100 * shown / len(graph.edges):.4g} %"])
    return rows


def in_terminal(graph: Graph) -> str:
    """The graph as a terminal shows it."""
    return "".join(f"{line.plain}\n" for line in picture.in_terminal(graph, WIDTH, unicode=True))


def shown_edges(form: str, text: str, graph: Graph) -> int:
    """How many edges of the graph stand in the text: each with its source, its target and its outcome."""
    wanted = Counter((graph.nodes[edge.source].key, edge.outcome, graph.nodes[edge.target].key) for edge in graph.edges)
    if form == "terminal":
        return _in_terminal(text, wanted)
    lines = text.splitlines()
    arrow = r'^ +n(\d+) -- "(\w+)" --> n(\d+)$' if form == "mermaid" else r'^ +n(\d+) -> n(\d+) \[label="(\w+)"'
    order = (1, 2, 3) if form == "mermaid" else (1, 3, 2)
    found = [match for match in (re.match(arrow, line) for line in lines) if match]
    keys = {str(at): node.key for at, node in enumerate(graph.nodes)}
    shown = Counter((keys[match[order[0]]], match[order[1]], keys[match[order[2]]]) for match in found)
    return (shown & wanted).total()


def _in_terminal(text: str, wanted: Counter[Route]) -> int:
    shown: Counter[Route] = Counter()
    source = ""
    for line in text.splitlines():
        edge, node = LISTED_EDGE.match(line), LISTED_NODE.match(line)
        if edge:
            shown[source, edge[1], edge[2]] += 1
        elif node:
            source = node[1]
    return (shown & wanted).total()
