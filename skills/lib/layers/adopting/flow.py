"""Makes steps of a drawn graph: diamonds become choices, the labels of their edges the outcomes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from skills.lib.layers.adopting import names
from skills.lib.layers.adopting.drawn import BOX, CHOICE, END, START, Unreadable
from skills.lib.layers.adopting.outline import Step, Way
from skills.lib.layers.adopting.wording import goes_over_all

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from skills.lib.layers.adopting.drawn import Drawn, Edge, Node

# How often a loop goes round: until something is good enough, and over all that is to be done.
BOUND, BOUND_OVER_ALL = 5, 50
_BEGINS = frozenset(("start", "begin", "entry", "entry point", "start here"))
_ENDS = frozenset(
    ("end", "done", "finish", "finished", "stop", "exit", "complete", "completed", "success", "all done", "fin")
)
_SPACES = re.compile(r"\s+")


def is_decision(drawn: Drawn, is_under_procedure: bool = False) -> bool:
    """True if a graph only says what to choose: nothing that it says to do leads to anything else.

    Under the heading of a procedure, what it begins with may be such a thing.
    """
    followed = {edge.source for edge in drawn.edges}
    reached = {edge.target for edge in drawn.edges} | (followed if is_under_procedure else set())
    boxes = [node.name for node in drawn.nodes.values() if node.kind != CHOICE]
    has_choice = any(node.kind == CHOICE for node in drawn.nodes.values())
    return has_choice and not any(name in followed and name in reached for name in boxes)


def steps_of(drawn: Drawn) -> tuple[list[Step], dict[str, str], list[str]]:
    """The steps of a graph in the order in which their nodes stand; the step of each node; what was guessed.

    Raises Unreadable if the graph is no procedure.
    """
    return _Flow(drawn).steps()


class _Flow:
    """A graph on its way to steps: ``edges`` are those from each node, ``kept`` the nodes that become steps."""

    def __init__(self, drawn: Drawn) -> None:
        self.drawn = drawn
        self.guesses: list[str] = []
        self.edges: dict[str, list[Edge]] = {name: [] for name in drawn.nodes}
        for edge in drawn.edges:
            self.edges[edge.source].append(edge)
        self.ids: dict[str, str] = {}

    def steps(self) -> tuple[list[Step], dict[str, str], list[str]]:
        begins = self._beginnings()
        kept = self._reached(begins)
        if len(kept) < 2:
            raise Unreadable(1, "it has fewer than two steps")
        left = [node.label for node in self.drawn.nodes.values() if self._is_left_out(node, kept, begins)]
        if left:
            self.guesses.append(f"not reached from the first step, and left out: {', '.join(map(_line, left))}")
        order = [name for name in self.drawn.nodes if name in kept]
        order.sort(key=lambda name: name != begins[0])
        first = self._fork(begins) if len(begins) > 1 else []
        for number, name in enumerate(order, 1):
            self.ids[name] = names.step_id(_line(self._label(name)), self._taken(), number)
        if first:
            first[0].ways[:] = self._ways_of_beginnings(begins)
        found = [*first, *(self._step(self.drawn.nodes[name]) for name in order)]
        self._give_an_end(found)
        bound_loops(found)
        return found, self.ids, self.guesses

    def _taken(self) -> Collection[str]:
        return {*self.ids.values(), "begin"}

    def _label(self, name: str) -> str:
        return _line(self.drawn.nodes[name].label)

    def _beginnings(self) -> list[str]:
        """The nodes at which the graph begins; a node that only says "start" is left out for what follows it."""
        reached = {edge.target for edge in self.drawn.edges if edge.source != edge.target}
        roots = [name for name in self.drawn.nodes if name not in reached and self.edges[name]]
        if not roots:
            roots = [self.drawn.edges[0].source] if self.drawn.edges else []
        if not roots:
            raise Unreadable(1, "it has no edges")
        found: list[str] = []
        for root in roots:
            followers = [edge.target for edge in self.edges[root]]
            is_word = self._says(root, _BEGINS) or self.drawn.nodes[root].kind == START
            found += followers if is_word and followers else [root]
        found = list(dict.fromkeys(found))
        sizes = {name: len(self._reached([name])) for name in found}
        largest = max(sizes.values())
        main = self._reached([name for name in found if sizes[name] == largest][:1])
        return [name for name in found if self._reached([name]) & main]

    def _reached(self, begins: Sequence[str]) -> set[str]:
        """The nodes that can be reached and are steps."""
        found: set[str] = set()
        waiting = list(begins)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += [edge.target for edge in self.edges[name]]
        return {name for name in found if not self._is_end_word(name)}

    def _is_left_out(self, node: Node, kept: set[str], begins: Sequence[str]) -> bool:
        is_begin = self._says(node.name, _BEGINS) or node.kind == START
        return node.name not in kept and not is_begin and not self._is_end_word(node.name)

    def _is_end_word(self, name: str) -> bool:
        """True if a node is not a step but only says that the procedure ends."""
        if self.edges[name]:
            return False
        return self._says(name, _ENDS) or (self.drawn.nodes[name].kind == END and not self._label(name))

    def _says(self, name: str, words: Collection[str]) -> bool:
        return self._label(name).lower().strip(" .!") in words

    def _fork(self, begins: Sequence[str]) -> list[Step]:
        labels = ", ".join(map(self._label, begins))
        step = Step("begin", "See how it begins", text=f"See which of these it begins with: {labels}.")
        step.guesses.append("the graph has several beginnings, so that this step was added to choose one")
        return [step]

    def _ways_of_beginnings(self, begins: Sequence[str]) -> list[Way]:
        ways: list[Way] = []
        for name in begins:
            word = names.outcome(self._label(name), self.ids[name], [way.outcome for way in ways], False)
            ways.append(Way(word, self.ids[name], self._label(name)))
        return ways

    def _step(self, node: Node) -> Step:
        label = _line(node.label)
        edges = list({(edge.target, edge.label): edge for edge in self.edges[node.name]}.values())
        step = Step(self.ids[node.name], label)
        step.lines = {node.line, *(edge.line for edge in edges)}
        is_choice = len(edges) > 1
        step.text = f"Decide: {label}" if is_choice and node.kind == CHOICE else label
        if not is_choice:
            target = self._target(edges[0].target) if edges else None
            step.ways = [Way("ok", target, edges[0].label if edges else "")]
            return step
        for edge in edges:
            target = self._target(edge.target)
            said = edge.label or ("otherwise" if sum(not one.label for one in edges) == 1 else "")
            taken = [way.outcome for way in step.ways]
            word = names.outcome(said, target or "end", taken, target is None)
            step.ways.append(Way(word, target, self._when(label, edge)))
        if not all(edge.label for edge in edges):
            step.guesses.append("an edge has no label: its outcome is named after where it leads")
        if node.kind == BOX:
            step.guesses.append("several edges leave it, and it is no diamond: taken as a choice, one of them a time")
        return step

    def _when(self, label: str, edge: Edge) -> str:
        if not edge.label:
            return f"what follows is: {self._label(edge.target)}" if self._label(edge.target) else "otherwise"
        return f"{label} {edge.label}" if label.endswith("?") else f"{label}: {edge.label}"

    def _target(self, name: str) -> str | None:
        return None if self._is_end_word(name) else self.ids[name]

    def _give_an_end(self, steps: list[Step]) -> None:
        """Let the run end where a loop of the graph has no way out."""
        while stuck := _without_end(steps):
            step = next((step for step in reversed(stuck) if len(step.ways) > 1), stuck[-1])
            if len(step.ways) == 1:
                way = step.ways[0]
                word = names.outcome(way.when or "more", way.target or "end", [], False)
                step.ways[0] = Way(word, way.target, way.when or "there is more to do")
            taken = [way.outcome for way in step.ways]
            step.ways.append(Way(names.outcome("finished", "end", taken, True), None, "all is done"))
            step.guesses.append("the graph never ends: a way to the end was added here")


def _line(text: str) -> str:
    return _SPACES.sub(" ", text).strip()


def _targets(steps: Sequence[Step]) -> dict[str, list[str | None]]:
    """Where each step leads."""
    following = [step.id for step in steps[1:]]
    return {
        step.id: [way.target for way in step.ways] or [following[at] if at < len(following) else None]
        for at, step in enumerate(steps)
    }


def _without_end(steps: Sequence[Step]) -> list[Step]:
    """The steps from which no end can be reached."""
    targets = _targets(steps)
    good: set[str | None] = {None}
    while more := [name for name, leads in targets.items() if name not in good and good.intersection(leads)]:
        good.update(more)
    return [step for step in steps if step.id not in good]


def bound_loops(steps: Sequence[Step]) -> None:
    """Bound every step that chooses whether a loop goes round again."""
    targets = _targets(steps)
    for step in steps:
        back = [way for way in step.ways if way.target is not None and _leads(targets, way.target, step.id)]
        if back and len(step.ways) > 1:
            is_inner = len(back) == len(step.ways)  # a loop in a larger one, each round of which is counted
            step.bound = BOUND_OVER_ALL if is_inner or goes_over_all(step.title) else BOUND
            step.guesses.append(f"the loop is bounded: after {step.bound} times a person decides")


def _leads(targets: Mapping[str, Sequence[str | None]], start: str, to: str) -> bool:
    """True if a way leads from one step to another, or if they are the same."""
    seen: set[str] = set()
    waiting: list[str | None] = [start]
    while waiting:
        name = waiting.pop()
        if name == to:
            return True
        if name is not None and name not in seen:
            seen.add(name)
            waiting += targets[name]
    return False
