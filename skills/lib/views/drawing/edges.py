"""The graph of a workflow as something to draw: nodes in order, edges with their outcomes, what a run took."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import networkx as nx

from skills.lib.clean_text import TIMES, one_line
from skills.lib.hosts import skills
from skills.lib.ledger.history import Event
from skills.lib.model.steps import Workflow
from skills.lib.model.types import Outcome

END = "done"
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

    @property
    def caption(self) -> str:
        """The label, and what kind of step it is if that is no ordinary one."""
        kind = "no such step" if self.kind == "missing" else self.kind
        return self.label if kind in ("step", "end") else f"{self.label} ({kind})"


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
    index: dict[str | None, int] = {}
    for at, node in enumerate(nodes):
        index.setdefault(node.key, at)
    routes = [
        (at, target, outcome.value) for at, step in enumerate(workflow.steps) for outcome, target in step.next.items()
    ]
    for _, target, _ in routes:
        if target not in index:
            index[target] = len(nodes)
            nodes.append(Node(END, 0, "", "end") if target is None else Node(target, 0, "", "missing"))
    routes += [(at, target, STALE) for at, target in _stale(workflow) if target in index]
    taken = _taken(workflow, events)
    edges = [
        Edge(at, index[target], outcome, tuple(taken.pop((nodes[at].key, outcome), ())))
        for at, target, outcome in routes
    ]
    order = _order(nodes, edges, index.get(workflow.start, 0))
    place = {old: new for new, old in enumerate(order)}
    placed = [replace(edge, source=place[edge.source], target=place[edge.target]) for edge in edges]
    placed.sort(key=lambda edge: edge.source)
    return Graph(workflow.name, workflow.title, tuple(nodes[at] for at in order), tuple(placed), len(taken))


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


def _order(nodes: Sequence[Node], edges: Sequence[Edge], start: int) -> list[int]:
    """The numbers of the nodes in an order in which every edge leads forward, except the edges that close a loop.

    Among the nodes that could come next, the one that is declared first comes first.
    """
    ways: nx.DiGraph[int] = nx.DiGraph()
    ways.add_nodes_from([start, *range(len(nodes))] if nodes else [])
    ways.add_edges_from((edge.source, edge.target) for edge in edges)
    # In a depth-first search, only an edge that closes a loop leads to a node that is finished later.
    finished = {node: at for at, node in enumerate(nx.dfs_postorder_nodes(ways))}
    ways.remove_edges_from([(source, target) for source, target in ways.edges if finished[target] >= finished[source]])
    return list(nx.lexicographical_topological_sort(ways, key=lambda at: (at != start, nodes[at].kind == "end", at)))
