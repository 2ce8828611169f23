"""The graph of a workflow: what can be reached, and what a message shows of it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import networkx as nx

from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.types import Outcome
from skills.lib.validation import outcomes, review, walks
from skills.lib.validation.finding import Finding, Severity, waiver
from skills.lib.validation.lines import Place
from skills.lib.validation.topology import END, ROOT, Topology

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator


# Steps that may be visited in all to show example walks; a message beyond that does without.
WALK_BUDGET = 3_000_000


class Graph(Topology):
    """The graph of one workflow, and searches in it made at most once."""

    def __init__(self, workflow: Workflow, file: str | None = None) -> None:
        super().__init__(workflow, file)
        self._budget = WALK_BUDGET

    @cached_property
    def returns(self) -> list[tuple[int, int]]:
        """Where a verdict leads that fell with its files: from its gates, and from the steps that may end the run."""
        found = []
        for checkpoint, target in review.stale_targets(self).items():
            found += [(at, target) for at in review.falling(self, checkpoint)]
        return found

    @cached_property
    def digraph(self) -> nx.DiGraph[int]:
        """The graph for networkx; an UNKNOWN target counts as the end, for it may be meant to lead there."""
        return self._graph(self.returns)

    @cached_property
    def certain(self) -> nx.DiGraph[int]:
        """The graph for what every run has passed: a verdict falls only in a run that has left its review."""
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
        """The steps that a run can come to."""
        if self.start == END:
            return set()
        return (nx.descendants(self.digraph, self.root) | {self.start}) - {END}

    @cached_property
    def hops_from_start(self) -> dict[int, int]:
        """How many hops it is from the start to each step that a run can come to."""
        return {} if self.start == END else dict(nx.single_source_shortest_path_length(self.digraph, self.root))

    @cached_property
    def islands(self) -> list[tuple[list[int], set[int]]]:
        """The steps that no run comes to, as far as they hang together: those to lead a route to, and all of them.

        Of steps that lead to each other, the first is the one to lead a route to.
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
        """Whether any step leads to the end."""
        return any(target == END for ways in self.routes for _, target in ways)

    @cached_property
    def never_taken(self) -> dict[tuple[int, Outcome], str]:
        """Routes that no run takes, with the reason in words."""
        return {(at, outcome): why for at, step in enumerate(self.steps) for outcome, why in _never_taken(step)}

    def example(
        self,
        origin: int,
        goal: Callable[[int], bool],
        avoid: Collection[int] = (),
        skip: Collection[tuple[int, Outcome]] = (),
    ) -> str:
        """A shortest walk as text for a message, or nothing where too much was searched already."""
        if self._budget <= 0:
            return ""
        seen = 0

        def counted(node: int) -> bool:
            nonlocal seen
            seen += 1
            return goal(node)

        hops = walks.search(self, origin, counted, avoid=avoid, skip=skip)
        self._budget -= seen
        return walks.printed(self, hops or ())

    def finding(
        self,
        rule: str,
        severity: Severity,
        what: str,
        *,
        why: str,
        do: str,
        step: int | None = None,
        outcome: Outcome | None = None,
        value: str = "",
        file: str | None = None,
        line: int | None = None,
    ) -> Finding:
        """A finding about a step, one of its routes, or (without ``step``) the workflow; waived if the step says so."""
        where = self.workflow.name
        if step is not None:
            where += f":{self.steps[step].id}" + (f":{outcome.value}" if outcome else "")
        place = Place(self.file, self.lines.of_workflow()) if step is None else self._place(step, outcome)
        if place.made:
            what += f" ({place.made})"
        if line is None:
            file, line = place.file, place.line
        waived = "" if step is None else waiver(self.steps[step], rule, value)
        position = -1 if step is None else step
        return Finding(rule, severity, where, file or self.file, line, what, why, do, position, value, waived)

    def _place(self, step: int, outcome: Outcome | None) -> Place:
        return self.lines.place(self.steps[step], self._occurrences[step], outcome.value if outcome else None)

    @cached_property
    def _occurrences(self) -> list[int]:
        seen: dict[str, int] = {}
        found = []
        for step in self.steps:
            found.append(seen.get(step.id, 0))
            seen[step.id] = found[-1] + 1
        return found


def _never_taken(step: StepDef) -> Iterator[tuple[Outcome, str]]:
    can = outcomes.possible(step)
    if can is not None:
        for outcome in step.next:
            if outcome not in can and outcome is not Outcome.DEFAULT:
                yield outcome, f"{outcomes.kind(step)} gives {outcomes.listed(can)}, never {outcome.value}"
    if Outcome.DEFAULT in step.next:
        left = (can if can is not None else set(step.outcomes or Outcome) - {Outcome.DEFAULT}) - set(step.next)
        if not left and len(step.next) > 1:
            yield Outcome.DEFAULT, "every outcome that the step can give has a route of its own"
    if step.max_iterations == 1 and Outcome.ITERATE in step.next and outcomes.is_limited(step):
        yield Outcome.ITERATE, "max_iterations is 1, so the first ITERATE already counts as " + step.at_limit.value
