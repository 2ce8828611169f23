"""The graph of a workflow as something to draw: nodes in order, edges with their outcomes, what a run took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import networkx as nx

from skills.lib.commands.console.screen import TIMES, one_line
from skills.lib.commands.queries import skills
from skills.lib.ledger import Event
from skills.lib.model.steps import Workflow
from skills.lib.model.types import Outcome

END = "done"
# The steps that are drawn in a way of their own.
KINDS = ("gate", "person", "dispatch")
# The label of the edge to the step that follows a verdict whose files changed.
STALE = "stale"


@dataclass(frozen=True)
class Node:
    """A step, the end, or a target that no step has (``missing``); ``kind`` is step, gate, person, dispatch, end."""

    key: str
    number: int
    title: str
    kind: str

    @property
    def label(self) -> str:
        """The text of the node: its number, if it is a step, and its id."""
        return f"{self.number} {one_line(self.key)}" if self.number else one_line(self.key)


@dataclass(frozen=True)
class Edge:
    """One route; ``turns`` are those to which a run came by it."""

    source: int
    target: int
    outcome: str
    turns: tuple[int, ...] = ()

    @property
    def taken(self) -> int:
        """How often the run took it."""
        return len(self.turns)

    @property
    def label(self) -> str:
        """The outcome, and how often it was taken."""
        return f"{self.outcome} {TIMES}{self.taken}" if self.taken else self.outcome


@dataclass(frozen=True)
class Graph:
    """Nodes in drawing order, edges by node index, and how many routes that were taken the workflow no longer has."""

    name: str
    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    removed: int = 0


def of_workflow(workflow: Workflow, events: Sequence[Event] = ()) -> Graph:
    """The graph of a workflow, with the routes that these events took."""
    nodes = [Node(step.id, at, step.title, skills.kind(step.handler)) for at, step in enumerate(workflow.steps, 1)]
    index: dict[str, int] = {}
    for at, node in enumerate(nodes):
        index.setdefault(node.key, at)
    routes: list[tuple[int, int, str]] = []
    end = -1
    for at, step in enumerate(workflow.steps):
        for outcome, target in step.next.items():
            if target is None and end < 0:
                end = len(nodes)
                nodes.append(Node(END, 0, "", "end"))
            elif target is not None and target not in index:
                index[target] = len(nodes)
                nodes.append(Node(target, 0, "", "missing"))
            routes.append((at, end if target is None else index[target], outcome.value))
    routes += [(at, index[target], STALE) for at, target in _stale(workflow) if target in index]
    taken = _taken(workflow, events)
    edges = [
        Edge(source, target, outcome, tuple(taken.pop((nodes[source].key, outcome), ())))
        for source, target, outcome in routes
    ]
    graph = Graph(workflow.name, workflow.title, tuple(nodes), tuple(edges), len(taken))
    return _ordered(graph, index.get(workflow.start, 0))


def _stale(workflow: Workflow) -> list[tuple[int, str]]:
    """Where fallen verdicts lead, from the gates that say so and from the steps that may end the run."""
    targets = [step.gate.stale for step in workflow.steps if step.handler is not None and step.gate]
    found = []
    for at, step in enumerate(workflow.steps):
        own = step.gate.stale if step.handler is not None and step.gate else None
        ways = [own] if own else [target for target in targets if None in step.next.values()]
        found += [(at, target) for target in dict.fromkeys(ways) if target and target != step.id]
    return found


def _taken(workflow: Workflow, events: Sequence[Event]) -> dict[tuple[str, str], list[int]]:
    """The turns to which each route led, by step and the outcome under which the graph has it (or DEFAULT)."""
    taken: dict[tuple[str, str], list[int]] = {}
    for event in events:
        source, outcome = event.detail.get("from"), event.detail.get("outcome")
        if event.kind in ("moved", "finished") and source and outcome:
            if "stale" in event.detail:
                outcome = STALE
            elif workflow.has(source) and outcome not in workflow.step(source).next:
                outcome = Outcome.DEFAULT.value
            taken.setdefault((source, str(outcome)), []).append(event.turn)
    return taken


def _ordered(graph: Graph, start: int) -> Graph:
    """The same graph with its nodes in an order in which every edge leads forward, but for those of loops.

    Among nodes that could come next the one declared first does, so a workflow written in order keeps it.
    """
    count = len(graph.nodes)
    ways: nx.DiGraph[int] = nx.DiGraph()
    ways.add_nodes_from([start, *range(count)] if count else [])
    ways.add_edges_from((edge.source, edge.target) for edge in graph.edges)
    ways.remove_edges_from(_back_edges(ways))

    def rank(at: int) -> int:
        if at == start:
            return -1
        return count if graph.nodes[at].kind == "end" else at

    order = list(nx.lexicographical_topological_sort(ways, key=rank))
    place = {old: new for new, old in enumerate(order)}
    edges = [replace(edge, source=place[edge.source], target=place[edge.target]) for edge in graph.edges]
    edges.sort(key=lambda edge: edge.source)
    return replace(graph, nodes=tuple(graph.nodes[at] for at in order), edges=tuple(edges))


def _back_edges(ways: nx.DiGraph[int]) -> set[tuple[int, int]]:
    """The edges that close a loop: those to a node on the way from the root, depth first."""
    back: set[tuple[int, int]] = set()
    passed: set[int] = set()
    for source, target, kind in nx.dfs_labeled_edges(ways):
        if kind == "forward":
            passed.add(target)
        elif kind == "reverse":
            passed.discard(target)
        elif target in passed:
            back.add((source, target))
    return back
