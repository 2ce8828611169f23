"""The graph of a workflow: what can be reached, what reviews it, and what a message shows of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property

import networkx as nx

from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.types import Gate, Outcome, Person
from skills.lib.validation import outcomes
from skills.lib.validation.locations import Location
from skills.lib.validation.topology import END, ROOT, Topology, reached

# Steps that may be visited in all to show example walks; a message beyond that does without.
WALK_BUDGET = 3_000_000
# How many origins one sweep follows; more take more sweeps, so memory stays small.
SWEEP = 4096


def is_gate(step: StepDef) -> bool:
    """True if the step is a review that is its own gate: it has a FAIL route."""
    return step.handler is not None and Outcome.FAIL in step.next and step.checkpoint is not None


def loops_in(graph: nx.DiGraph[int]) -> list[set[int]]:
    """The largest sets of nodes that lead to each other, in the order of their first nodes."""
    parts = nx.strongly_connected_components(graph)
    return sorted((part for part in parts if len(part) > 1 or graph.has_edge(*(next(iter(part)),) * 2)), key=min)


def _by_checkpoint(steps: Iterable[tuple[str | None, int]]) -> dict[str, set[int]]:
    """The steps by their checkpoints; those without one are left out."""
    found: dict[str, set[int]] = {}
    for checkpoint, at in steps:
        if checkpoint is not None:
            found.setdefault(checkpoint, set()).add(at)
    return found


class Graph(Topology):
    """The graph of one workflow. Each search in it is made at most once."""

    def __init__(self, workflow: Workflow, file: str | None = None) -> None:
        super().__init__(workflow, file)
        self._budget = WALK_BUDGET

    @cached_property
    def returns(self) -> list[tuple[int, int]]:
        """The edges that a run takes if a covered file changed: from the gates and the steps that may end the run."""
        return [(at, target) for name, target in self._stale_targets.items() for at in self._falling(name)]

    @cached_property
    def _routes(self) -> list[tuple[int, int]]:
        """The routes as edges. An UNKNOWN target counts as the end, because it may be meant to lead there."""
        return [(node, target if target >= 0 else END) for node, ways in enumerate(self.routes) for _, target in ways]

    @cached_property
    def digraph(self) -> nx.DiGraph[int]:
        """The graph for networkx."""
        return self._graph(self.returns)

    @cached_property
    def certain(self) -> nx.DiGraph[int]:
        """The graph of what every run has passed: a verdict becomes invalid only after its review."""
        return self._graph((at, target) for name, target in self._stale_targets.items() for at in self.covering[name])

    def _graph(self, returns: Iterable[tuple[int, int]]) -> nx.DiGraph[int]:
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(self.index.values())
        graph.add_node(END)
        graph.add_edges_from(self._routes)
        graph.add_edges_from(returns)
        if self.root == ROOT:
            graph.add_edges_from((ROOT, start) for start in self.starts)
        return graph

    @cached_property
    def reachable(self) -> set[int]:
        """The steps that a run can reach."""
        return set(self.hops_from_start) - {END, ROOT}

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
        # A way back to a review whose files changed is bounded by its gate, and drawn by no route.
        return loops_in(nx.DiGraph(self._routes))

    @cached_property
    def traps(self) -> list[set[int]]:
        """The loops that no declared route leaves."""
        return [members for members in self.loops if all(target in members for _, _, target in self.hops(members))]

    @cached_property
    def open_loops(self) -> list[set[int]]:
        """The loops that some declared route leaves."""
        return [members for members in self.loops if any(target not in members for _, _, target in self.hops(members))]

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

        hops = self.search(origin, counted, avoid=avoid, skip=skip)
        self._budget -= seen
        return f": {self.printed(hops)}" if hops else ""

    def location(self, step: int | None, outcome: Outcome | None = None) -> Location:
        """The location of a step, or of its route for ``outcome``; without a step, of the workflow."""
        if step is None:
            return Location(self.lines.file, self.lines.of_workflow())
        return self.lines.location(self.steps[step], self._occurrences[step], outcome.value if outcome else None)

    @cached_property
    def _occurrences(self) -> list[int]:
        seen: dict[str, int] = {}
        found = []
        for step in self.steps:
            found.append(seen.get(step.id, 0))
            seen[step.id] = found[-1] + 1
        return found

    # Reviews

    @cached_property
    def reviewers(self) -> dict[str, set[int]]:
        """The steps whose reviews the engine counts, by checkpoint."""
        return _by_checkpoint((step.checkpoint, at) for at, step in self.distinct if step.handler is not None)

    @cached_property
    def gates(self) -> dict[str, set[int]]:
        """The Gate steps by checkpoint."""
        handlers = ((at, step.handler) for at, step in self.distinct)
        return _by_checkpoint((handler.checkpoint, at) for at, handler in handlers if isinstance(handler, Gate))

    @cached_property
    def covering(self) -> dict[str, set[int]]:
        """The reviewers' steps that say which files they cover, by checkpoint."""
        covers = {name: {at for at in steps if self.steps[at].covers} for name, steps in self.reviewers.items()}
        return {name: steps for name, steps in covers.items() if steps}

    def deciding(self, checkpoint: str) -> set[int]:
        """The steps that decide on a checkpoint: its Gates, and reviews of it that are their own."""
        own = {at for at in self.reviewers.get(checkpoint, ()) if is_gate(self.steps[at])}
        return own | self.gates.get(checkpoint, set())

    @cached_property
    def _stale_targets(self) -> dict[str, int]:
        """The step to return to if covered files changed, by checkpoint, as far as a gate names one."""
        found: dict[str, int] = {}
        for checkpoint in self.covering:
            for at in self.deciding(checkpoint):
                gate = self.steps[at].gate
                if gate and gate.stale in self.index:
                    found.setdefault(checkpoint, self.index[gate.stale])
        return found

    def _falling(self, checkpoint: str) -> set[int]:
        """The steps that check if covered files changed: the gates, and the steps that end a run after them."""
        stops = self.deciding(checkpoint)
        after = reached(stops, lambda node: [target for _, target in self.routes[node]])
        return stops | {node for node in after if any(target == END for _, target in self.routes[node])}

    def way_past(self, origin: int, reviewing: Collection[int], shut: Collection[tuple[int, Outcome]] = ()) -> str:
        """A walk from a step to the end without a review, without a Person, and not by FAIL; empty if there is none.

        ``shut`` are the hops through the checkpoint's gates, which open on no verdict but a new one.
        """
        people = {at for at, step in self.distinct if isinstance(step.handler, Person)}
        if origin in people:
            return ""
        skip = {*self.failing_ends, *shut, *self.never_taken}
        return self.printed(self.search(origin, lambda node: node == END, avoid={*reviewing, *people}, skip=skip))

    def judging_hops(self, reviewing: Collection[int]) -> set[tuple[int, Outcome]]:
        """The hops out of ``reviewing`` that leave a review behind: all but a SKIP that a run can take."""
        return {(at, outcome) for at in reviewing for outcome, _ in self.routes[at] if not self.skips(at, outcome)}

    def skips(self, at: int, outcome: Outcome) -> bool:
        """True if the outcome is a SKIP that a run can take at the step."""
        return outcome is Outcome.SKIP and Outcome.SKIP in outcomes.with_skip(self.steps[at], frozenset())

    # What comes before what

    def passes(self, before: int, node: int) -> bool:
        """True if every walk to ``node`` passes ``before``, itself included; False if either is unreachable."""
        first, last = self._dominated.get(before, (1, 0))
        return node in self._dominated and first <= self._dominated[node][0] <= last

    @cached_property
    def _dominated(self) -> dict[int, tuple[int, int]]:
        """The dominators' tree in numbers: the two of a step enclose those of all steps that every walk meets after it.

        So ``passes`` answers in constant time.
        """
        if self.start == END:
            return {}
        above = nx.immediate_dominators(self.certain, self.root)
        tree: nx.DiGraph[int] = nx.DiGraph([(self.root, self.root), *((above[node], node) for node in above)])
        first: dict[int, int] = {}
        numbers: dict[int, tuple[int, int]] = {}
        for _, node, way in nx.dfs_labeled_edges(tree, self.root):
            if way == "forward":
                first[node] = len(first)
            elif way == "reverse":
                numbers[node] = (first[node], len(first) - 1)
        return numbers

    def leads_to(self, pairs: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
        """The (before, after) of ``pairs`` with a walk of one hop or more from the first step to the second.

        Sweeps over the condensed graph, with a bit per origin, answer all of them in place of one search per pair.
        """
        wanted = set(pairs)
        if not wanted:
            return set()
        whole = nx.condensation(self.digraph)
        component = whole.graph["mapping"]
        looping = {component[min(members)] for members in self.loops}
        order = list(nx.topological_sort(whole))
        origins = sorted({before for before, _ in wanted})
        found = set()
        for at in range(0, len(origins), SWEEP):
            bit = {origin: 1 << number for number, origin in enumerate(origins[at : at + SWEEP])}
            own = dict.fromkeys(order, 0)
            for origin, mask in bit.items():
                own[component[origin]] |= mask
            come: dict[int, int] = {}
            for node in order:
                come[node] = own[node] if node in looping else 0
                for before in whole.pred[node]:
                    come[node] |= come[before] | own[before]
            found |= {pair for pair in wanted if pair[0] in bit and come[component[pair[1]]] & bit[pair[0]]}
        return found
