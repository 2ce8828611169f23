"""A workflow as the rules see it: numbered steps, routes between them, and searches made at most once.

Where a name is misspelt the search goes on with the one that was probably meant, so that one slip is one finding;
steps of one id count as one for the same reason.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import networkx as nx

from skills.lib.workflow.core import StepDef, Workflow
from skills.lib.workflow.types import Outcome
from skills.lib.workflow.validation import outcomes, walks
from skills.lib.workflow.validation.finding import Finding, Severity, waiver
from skills.lib.workflow.validation.lines import Lines, Place
from skills.lib.workflow.validation.nearest import Nearest
from skills.lib.workflow.validation.walks import END, ROOT, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from skills.lib.workflow.validation.asked import Asked
    from skills.lib.workflow.validation.handlers import Handlers
    from skills.lib.workflow.validation.state_flow import StateFlow
    from skills.lib.workflow.validation.wording import Sections

# What an author may write for the end of a run in place of None: unknown-target says so, and no other rule need.
ENDINGS = frozenset(("done", "end", "none", "null"))
# Steps that may be visited in all to show example walks; a message beyond that does without.
WALK_BUDGET = 3_000_000


class GraphView:
    """The graph of one workflow; a step is its number from 0, the end is END, a target that is no step UNKNOWN."""

    def __init__(self, workflow: Workflow, file: str | None = None) -> None:
        self.workflow = workflow
        self.file = file or ""
        self.steps: tuple[StepDef, ...] = workflow.steps
        self.index: dict[str, int] = {}
        for at, step in enumerate(workflow.steps):
            self.index.setdefault(step.id, at)
        self.lines = Lines(self.file)
        self._budget = WALK_BUDGET

    @cached_property
    def nearest(self) -> Nearest:
        """Finds the step id that was probably meant."""
        return Nearest([step_id for step_id in self.index if isinstance(step_id, str)])

    @cached_property
    def start(self) -> int:
        """The first step of a run: the one named, the nearest to it, else the first; END in an empty workflow."""
        name = self.workflow.start
        if name in self.index:
            return self.index[name]
        near = self.nearest.to(str(name)) if name else None
        return self.index[near] if near else (0 if self.steps else END)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The steps that a run may begin at: the start, and where a reviewer verifies items again."""
        again = self.index.get(self.workflow.reverify or "")
        return (self.start,) if again is None or again == self.start else (self.start, again)

    @property
    def root(self) -> int:
        """The node that every walk begins at: the start, or one that leads to each of two."""
        return self.start if len(self.starts) == 1 else ROOT

    @cached_property
    def returns(self) -> list[tuple[int, int]]:
        """Where a verdict leads that fell with its files: from its gates, and from the steps that may end the run."""
        from skills.lib.workflow.validation import review

        found = []
        for checkpoint, target in review.stale_targets(self).items():
            found += [(at, target) for at in review.falling(self, checkpoint)]
        return found

    @cached_property
    def routes(self) -> list[list[tuple[Outcome, int]]]:
        """Where each step leads; routes of a repeated id are counted with the first step of that id."""
        routes: list[list[tuple[Outcome, int]]] = []
        index = self.index
        for at, step in enumerate(self.steps):
            ways = [
                (outcome, END if target is None else index[target] if target in index else self.meant(target))
                for outcome, target in step.next.items()
            ]
            first = index[step.id]
            if first == at:
                routes.append(ways)
            else:
                routes.append([])
                routes[first].extend(ways)
        return routes

    def meant(self, target: str) -> int:
        """Where a target that is no step was to lead: END for a word of the end, else the nearest step, or UNKNOWN."""
        if str(target).lower() in ENDINGS:
            return END
        near = self.nearest.to(str(target))
        return self.index[near] if near else UNKNOWN

    @cached_property
    def distinct(self) -> list[tuple[int, StepDef]]:
        """The first step of each id: a repeated one is no node of the graph, and what it reads is not looked at."""
        return [(at, self.steps[at]) for at in self.index.values()]

    @cached_property
    def digraph(self) -> nx.DiGraph[int]:
        """The graph for networkx; an UNKNOWN target counts as the end, for it may be meant to lead there."""
        return self._graph(self.returns)

    @cached_property
    def certain(self) -> nx.DiGraph[int]:
        """The graph for what every run has passed: a verdict falls only in a run that has left its review."""
        from skills.lib.workflow.validation import review

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

    @cached_property
    def flow(self) -> StateFlow:
        """What is written and read where."""
        from skills.lib.workflow.validation.state_flow import StateFlow

        return StateFlow(self)

    @cached_property
    def source_flow(self) -> StateFlow:
        """The same, with what the sources of handlers say that they write."""
        from skills.lib.workflow.validation.state_flow import StateFlow

        return StateFlow(self, self.handlers)

    @cached_property
    def handlers(self) -> Handlers:
        """What the sources of the handlers say."""
        from skills.lib.workflow.validation.handlers import Handlers

        return Handlers(self.steps)

    @cached_property
    def asked(self) -> list[Asked]:
        """What is asked for with choices or a range."""
        from skills.lib.workflow.validation.asked import asked

        return list(asked(self))

    @cached_property
    def sections(self) -> Sections:
        """The sections of the prompts file, where the file that registers the workflow reads it."""
        from skills.lib.workflow.validation.wording import Sections

        return Sections(self.file, read=bool(self.lines.calls_of("read_prompts")))

    def hops(self, members: Collection[int]) -> Iterator[walks.Hop]:
        """Every route of these steps."""
        return ((node, outcome, target) for node in members for outcome, target in self.routes[node])

    def name(self, node: int) -> str:
        """The step's id, or what stands for the end."""
        if node in (END, ROOT):
            return "end" if node == END else "start"
        return "?" if node == UNKNOWN else str(self.steps[node].id)

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
