"""The graph of a workflow as something to draw: nodes in order, edges with their outcomes, what a run took."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from skills.lib.commands.console.screen import TIMES, one_line
from skills.lib.commands.queries.skills import kind
from skills.lib.ledger import Event
from skills.lib.model.steps import Workflow
from skills.lib.model.types import Outcome

END = "done"
# The label of an edge where a verdict leads that fell with its files.
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
        """What stands in the node: its number, if it is a step, and its id."""
        return f"{self.number} {one_line(self.key)}" if self.number else one_line(self.key)


@dataclass(frozen=True)
class Edge:
    """One route; ``taken`` counts how often a run took it."""

    source: int
    target: int
    outcome: str
    taken: int = 0

    @property
    def label(self) -> str:
        """The outcome, and how often it was taken."""
        return f"{self.outcome} {TIMES}{self.taken}" if self.taken else self.outcome


@dataclass(frozen=True)
class Graph:
    """Nodes in drawing order, edges by node index, and how many taken routes the workflow has no more."""

    name: str
    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    gone: int = 0


def of_workflow(workflow: Workflow, events: Sequence[Event] = ()) -> Graph:
    """The graph of a workflow, with the routes that these events took."""
    nodes = [Node(step.id, at, step.title, kind(step.handler)) for at, step in enumerate(workflow.steps, 1)]
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
        Edge(source, target, outcome, taken.pop((nodes[source].key, outcome), 0)) for source, target, outcome in routes
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


def _taken(workflow: Workflow, events: Sequence[Event]) -> Counter[tuple[str, str]]:
    """How often each route was taken, by step and the outcome that the graph names (DEFAULT for one it does not)."""
    taken: Counter[tuple[str, str]] = Counter()
    for event in events:
        source, outcome = event.detail.get("from"), event.detail.get("outcome")
        if event.kind in ("moved", "finished") and source and outcome:
            if "stale" in event.detail:
                outcome = STALE
            elif workflow.has(source) and outcome not in workflow.step(source).next:
                outcome = Outcome.DEFAULT.value
            taken[source, str(outcome)] += 1
    return taken


def _ordered(graph: Graph, start: int) -> Graph:
    """The same graph with its nodes in an order in which every edge but those of loops leads forward.

    Among nodes that could come next the one declared first does, so a workflow written in order keeps it.
    """
    count = len(graph.nodes)
    ways: list[list[int]] = [[] for _ in range(count)]
    for edge in graph.edges:
        ways[edge.source].append(edge.target)
    back = _back_edges(ways, [start, *range(count)] if count else [])
    waiting = [0] * count
    for source, targets in enumerate(ways):
        for target in set(targets):
            waiting[target] += (source, target) not in back
    ready = [_rank(graph, at, start) for at in range(count) if not waiting[at]]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        _, at = heapq.heappop(ready)
        order.append(at)
        for target in set(ways[at]):
            if (at, target) not in back:
                waiting[target] -= 1
                if not waiting[target]:
                    heapq.heappush(ready, _rank(graph, target, start))
    place = {old: new for new, old in enumerate(order)}
    edges = [Edge(place[edge.source], place[edge.target], edge.outcome, edge.taken) for edge in graph.edges]
    edges.sort(key=lambda edge: edge.source)
    return Graph(graph.name, graph.title, tuple(graph.nodes[at] for at in order), tuple(edges), graph.gone)


def _rank(graph: Graph, at: int, start: int) -> tuple[int, int]:
    """The start comes first and the end last; the others as they are declared."""
    if at == start:
        return -1, at
    return (len(graph.nodes) if graph.nodes[at].kind == "end" else at), at


def _back_edges(ways: Sequence[Sequence[int]], roots: Sequence[int]) -> set[tuple[int, int]]:
    """The edges that close a loop: those to a node on the way from the root (depth first, without recursion)."""
    back: set[tuple[int, int]] = set()
    state = [0] * len(ways)
    for root in roots:
        if state[root]:
            continue
        state[root] = 1
        stack = [(root, iter(ways[root]))]
        while stack:
            node, rest = stack[-1]
            target = next(rest, None)
            if target is None:
                state[node] = 2
                stack.pop()
            elif state[target] == 1:
                back.add((node, target))
            elif state[target] == 0:
                state[target] = 1
                stack.append((target, iter(ways[target])))
    return back
