"""A workflow as numbered steps with routes between them, and the walks along these routes.

If a name is misspelt, searches go on with the name that was probably meant, so that one slip is one finding. Steps with
the same id count as one for the same reason.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TypeVar

from skills.lib.errors import MANY_NAMES, nearest
from skills.lib.model.steps import StepDef, Workflow
from skills.lib.model.types import Outcome
from skills.lib.validation import outcomes
from skills.lib.validation.locations import Lines

Hop = tuple[int, Outcome, int]
Spec = TypeVar("Spec")
Handler = TypeVar("Handler")

END = -1
UNKNOWN = -2
# Leads to the two steps that a run may begin at, if there are two.
ROOT = -3
# Words that an author may write for the end of a run in place of None; the rule unknown-target reports them.
ENDINGS = frozenset(("done", "end", "none", "null"))
# A longer walk is printed with its middle left out.
SHOWN = 60
# How often the nearest of many ids is looked for, so that a large graph of bad names takes linear time.
QUESTIONS = 200


class Topology:
    """The steps and routes of one workflow; a step is its number from 0, the end END, a target that is none UNKNOWN."""

    def __init__(self, workflow: Workflow, file: str | None = None) -> None:
        self.workflow = workflow
        self.file = file or ""
        self.steps: tuple[StepDef, ...] = workflow.steps
        self.index: dict[str, int] = {}
        for at, step in enumerate(workflow.steps):
            self.index.setdefault(step.id, at)
        self.lines = Lines(self.file)
        self._near: dict[str, str] = {}

    def nearest(self, name: object) -> str:
        """The step id that was probably meant; empty if none is near."""
        wanted = str(name)
        if wanted not in self._near:
            is_spent = len(self._near) >= QUESTIONS and len(self.index) > MANY_NAMES
            ids = [] if is_spent else [step_id for step_id in self.index if isinstance(step_id, str)]
            self._near[wanted] = nearest(wanted, ids)
        return self._near[wanted]

    @cached_property
    def start(self) -> int:
        """The first step of a run: the one named, the nearest to it, else the first; END in an empty workflow."""
        name = self.workflow.start
        if name in self.index:
            return self.index[name]
        near = self.nearest(name) if name else ""
        return self.index[near] if near else (0 if self.steps else END)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The steps that a run may begin at: the start, and the first step of a re-verification."""
        again = self.index.get(self.workflow.reverify or "")
        return (self.start,) if again is None or again == self.start else (self.start, again)

    @property
    def root(self) -> int:
        """The node that every walk begins at: the start, or one that leads to each of two."""
        return self.start if len(self.starts) == 1 else ROOT

    @cached_property
    def routes(self) -> list[list[tuple[Outcome, int]]]:
        """The routes of each step. Routes of a repeated id are counted with the first step of that id."""
        routes: list[list[tuple[Outcome, int]]] = [[] for _ in self.steps]
        index = self.index
        for step in self.steps:
            routes[index[step.id]] += [
                (outcome, END if target is None else index[target] if target in index else self.meant(target))
                for outcome, target in step.next.items()
            ]
        return routes

    def meant(self, target: str) -> int:
        """The probable meaning of a target that is no step: END for a word like it, else a step, or UNKNOWN."""
        if str(target).lower() in ENDINGS:
            return END
        near = self.nearest(target)
        return self.index[near] if near else UNKNOWN

    @cached_property
    def distinct(self) -> list[tuple[int, StepDef]]:
        """The first step of each id: a repeated one is no node of the graph, and what it reads is not looked at."""
        return [(at, self.steps[at]) for at in self.index.values()]

    @cached_property
    def never_given(self) -> dict[tuple[int, Outcome], str]:
        """Routes for outcomes that their step never gives, with the reason in words."""
        return {(at, outcome): why for at, step in enumerate(self.steps) for outcome, why in outcomes.never_given(step)}

    @cached_property
    def shadowed(self) -> dict[tuple[int, Outcome], str]:
        """Routes for which another route or a limit leaves no outcome, with the reason in words."""
        return {(at, outcome): why for at, step in enumerate(self.steps) for outcome, why in outcomes.shadowed(step)}

    @cached_property
    def never_taken(self) -> dict[tuple[int, Outcome], str]:
        """Routes that no run takes, with the reason in words."""
        return {**self.never_given, **self.shadowed}

    @cached_property
    def failing_ends(self) -> set[tuple[int, Outcome]]:
        """The hops by which a run ends as failed."""
        failed = self.workflow.ends_failed
        return {
            (at, outcome)
            for at, ways in enumerate(self.routes)
            for outcome, target in ways
            if target == END and failed(outcome)
        }

    def required(self, kind: type[Spec]) -> Iterator[tuple[int, StepDef, Spec]]:
        """The requirements of that kind, each with its step."""
        requirements = ((at, step, spec) for at, step in enumerate(self.steps) for spec in step.requires)
        return ((at, step, spec) for at, step, spec in requirements if isinstance(spec, kind))

    def handled_by(self, kind: type[Handler]) -> Iterator[tuple[int, StepDef, Handler]]:
        """The steps whose handler is of that kind, each with its handler."""
        for at, step in enumerate(self.steps):
            if isinstance(step.handler, kind):
                yield at, step, step.handler

    def hops(self, members: Collection[int]) -> Iterator[Hop]:
        """Every route of these steps."""
        return ((node, outcome, target) for node in members for outcome, target in self.routes[node])

    def name(self, node: int) -> str:
        """The step's id; ``end``, ``start`` or ``?`` for END, ROOT and UNKNOWN."""
        if node in (END, ROOT):
            return "end" if node == END else "start"
        return "?" if node == UNKNOWN else str(self.steps[node].id)

    def search(
        self,
        origin: int,
        goal: Callable[[int], bool],
        *,
        within: Collection[int] | None = None,
        avoid: Collection[int] = (),
        skip: Collection[tuple[int, Outcome]] = (),
    ) -> list[Hop]:
        """The shortest walk of one hop or more from ``origin`` to a goal; END and UNKNOWN are never passed.

        Empty if there is none.
        """
        came: dict[int, Hop] = {}
        queue = deque((origin,))
        while queue:
            node = queue.popleft()
            for outcome, target in self.routes[node]:
                if skip and (node, outcome) in skip:
                    continue
                if goal(target):
                    hops = [(node, outcome, target)]
                    while hops[-1][0] != origin:
                        hops.append(came[hops[-1][0]])
                    return hops[::-1]
                if target < 0 or target in came or target in avoid or (within is not None and target not in within):
                    continue
                came[target] = (node, outcome, target)
                queue.append(target)
        return []

    def cycle(
        self, members: Collection[int], skip: Collection[tuple[int, Outcome]] = (), first: int | None = None
    ) -> list[Hop]:
        """The shortest cycle through ``first``, else through the first of ``members``, that stays among them."""
        first = min(members) if first is None else first
        return self.search(first, lambda node: node == first, within=members, skip=skip)

    def printed(self, hops: Sequence[Hop]) -> str:
        """The walk as text: ``investigate -iterate-> investigate``."""
        parts = [self.name(node) for node, _, _ in hops[:1]]
        parts += [f"-{outcome.value}-> {self.name(target)}" for _, outcome, target in hops]
        if len(parts) > SHOWN:
            left_out = len(parts) - SHOWN
            parts = [*parts[: SHOWN - 10], f"… ({left_out} more) …", *parts[-10:]]
        return " ".join(parts)

    def listed(self, nodes: Iterable[int], most: int = 12) -> str:
        """The steps by name in the order of the workflow, at most ``most`` of them."""
        ordered = sorted(nodes)
        names = ", ".join(self.name(node) for node in ordered[:most])
        return f"{names} and {len(ordered) - most} more" if len(ordered) > most else names


def reached(origins: Iterable[int], onward: Callable[[int], Iterable[int]]) -> set[int]:
    """The steps that ``onward`` leads to from the origins, directly or by other steps."""
    found: set[int] = set()
    stack = list(origins)
    while stack:
        new = {node for node in onward(stack.pop()) if node >= 0} - found
        found |= new
        stack += new
    return found
