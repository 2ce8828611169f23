"""The graph of a workflow: what can be reached, and what a message shows of it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import networkx as nx

from skills.lib.model.steps import Workflow
from skills.lib.model.types import Outcome
from skills.lib.validation import review, walks
from skills.lib.validation.locations import Location
from skills.lib.validation.topology import END, ROOT, Topology

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


# Steps that may be visited in all to show example walks; a message beyond that does without.
WALK_BUDGET = 3_000_000


class Graph(Topology):
    """The graph of one workflow. Each search in it is made at most once."""

    def __init__(self, workflow: Workflow, file: str | None = None) -> None:
        super().__init__(workflow, file)
        self._budget = WALK_BUDGET

    @cached_property
    def returns(self) -> list[tuple[int, int]]:
        """The edges that a run takes if a covered file changed: from the gates and the steps that may end the run."""
        found = []
        for checkpoint, target in review.stale_targets(self).items():
            found += [(at, target) for at in review.falling(self, checkpoint)]
        return found

    @cached_property
    def digraph(self) -> nx.DiGraph[int]:
        """The graph for networkx. An UNKNOWN target counts as the end, because it may be meant to lead there."""
        return self._graph(self.returns)

    @cached_property
    def certain(self) -> nx.DiGraph[int]:
        """The graph of what every run has passed: a verdict becomes invalid only after its review."""
        targets, reviewers = review.stale_targets(self), review.covering(self)
        return self._graph((at, target) for name, target in targets.items() for at in reviewers[name])

    def _graph(self, returns: Iterable[tuple[int, int]]) -> nx.DiGraph[int]:
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(self.index.values())
        graph.add_node(END)
        graph.add_edges_from(
            (node, target if target >= 0 else END) for node, ways in enumerate(self.routes) for _, target in ways
        )
        graph.add_edges_from(returns)
        if self.root == ROOT:
            graph.add_edges_from((ROOT, start) for start in self.starts)
        return graph

    @cached_property
    def reachable(self) -> set[int]:
        """The steps that a run can reach."""
        if self.start == END:
            return set()
        return (nx.descendants(self.digraph, self.root) | {self.start}) - {END}

    @cached_property
    def hops_from_start(self) -> dict[int, int]:
        """The number of hops from the start to each step that a run can reach."""
        return {} if self.start == END else dict(nx.single_source_shortest_path_length(self.digraph, self.root))

    @cached_property
    def islands(self) -> list[tuple[list[int], set[int]]]:
        """The connected groups of steps that no run reaches: the entries to lead a route to, and all its steps.

        If steps lead to each other, the first of them is the entry.
        """
        left = self.digraph.subgraph(set(self.index.values()) - self.reachable)
        entries = {
            min(loop)
            for loop in nx.strongly_connected_components(left)
            if all(before in loop for node in loop for before in left.pred[node])
        }
        found = [(sorted(members & entries), members) for members in nx.weakly_connected_components(left)]
        return sorted(found, key=lambda island: island[0])

    @cached_property
    def can_end(self) -> set[int]:
        """The steps from which the end can be reached."""
        return set(nx.ancestors(self.digraph, END)) - {ROOT}

    @cached_property
    def loops(self) -> list[set[int]]:
        """The largest sets of steps that lead to each other, in the order of their first steps."""
        plain = self.digraph
        if self.returns:  # a way back that is bounded by its gate, and drawn by no route
            plain = nx.DiGraph(
                (node, target if target >= 0 else END) for node, ways in enumerate(self.routes) for _, target in ways
            )
        found = [
            members
            for members in nx.strongly_connected_components(plain)
            if len(members) > 1 or plain.has_edge(*(next(iter(members)),) * 2)
        ]
        return sorted(found, key=min)

    @cached_property
    def traps(self) -> list[set[int]]:
        """The loops that no declared route leaves."""
        return [members for members in self.loops if all(target in members for _, _, target in self.hops(members))]

    @cached_property
    def open_loops(self) -> list[set[int]]:
        """The loops that some declared route leaves."""
        trapped = {min(members) for members in self.traps}
        return [members for members in self.loops if min(members) not in trapped]

    @cached_property
    def has_end(self) -> bool:
        """True if any step leads to the end."""
        return any(target == END for ways in self.routes for _, target in ways)

    def example(
        self,
        origin: int,
        goal: int,
        avoid: Collection[int] = (),
        skip: Collection[tuple[int, Outcome]] = (),
    ) -> str:
        """A shortest walk to the goal as the end of a sentence; empty if none, or if too much was searched already."""
        if self._budget <= 0:
            return ""
        seen = 0

        def counted(node: int) -> bool:
            nonlocal seen
            seen += 1
            return node == goal

        hops = walks.search(self, origin, counted, avoid=avoid, skip=skip)
        self._budget -= seen
        return f": {walks.printed(self, hops)}" if hops else ""

    def location(self, step: int | None, outcome: Outcome | None = None) -> Location:
        """The location of a step, or of its route for ``outcome``; without a step, of the workflow."""
        if step is None:
            return Location(self.file, self.lines.of_workflow())
        return self.lines.location(self.steps[step], self._occurrences[step], outcome.value if outcome else None)

    @cached_property
    def _occurrences(self) -> list[int]:
        seen: dict[str, int] = {}
        found = []
        for step in self.steps:
            found.append(seen.get(step.id, 0))
            seen[step.id] = found[-1] + 1
        return found
