"""Steps and routes from what the ways through each step say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from skills.lib.migration import counting
from skills.lib.migration.printing import GateWay, Onward, Said, To, Verdict
from skills.lib.migration.refusals import Book
from skills.lib.migration.tables import MOST, Decision, Seen, leaves, tables, tree
from skills.lib.migration.values import Parameter
from skills.lib.workflow.types import Dispatch, GateConfig, Outcome

_RESERVED = ("next", "done", "current", "end", "none", "null")
_FORWARD = (Outcome.OK, Outcome.SKIP, Outcome.FAIL)


@dataclass
class Node:
    """One step of the new graph, by its number; ``outcomes`` maps each target's outcome to it."""

    number: int
    id: str
    said: Said
    decision: Decision | None = None
    outcomes: dict[Outcome, int | None] = field(default_factory=dict)
    counter: str = ""
    loop: int | None = None
    bound: int | None = None
    limit: tuple[int | None] | None = None
    at_limit: Outcome = Outcome.OK
    checkpoint: str = ""
    gate: GateConfig | None = None


def build(seen: Sequence[Seen], bounds: Mapping[str, int], book: Book) -> list[Node]:
    """The steps in order, with their routes; in the book stands what a graph cannot hold."""
    ids = step_ids([one.said.title for one in seen])
    nodes = [Node(one.number, name, one.said) for one, name in zip(seen, ids, strict=True)]
    for node, one in zip(nodes, seen, strict=True):
        _decide(node, one, book)
    book.close()
    _gates(nodes, book)
    book.close()
    reached = {node.number: _reached(nodes, node.number, gates=False) for node in nodes}
    left = _bounds_by_number(nodes, bounds, book)
    every = {node.number: _reached(nodes, node.number) for node in nodes}
    for node in nodes:
        counted = node.bound is not None and node.number not in left
        _give_outcomes(node, reached, left, book)
        if counted and node.loop is not None:
            counting.check(node.number, node.loop, node.counter, seen, every, book)
    for number in left:
        what = f"--max-iterations {number}: step {number} decides no loop"
        book.refuse(nodes[number - 1].said.line, what, "there is nothing to bound", "leave it out")
    _check_loops(nodes, book)
    for node in nodes[1:]:
        if node.number not in every[1]:
            what = f"step {node.number} is never reached"
            do = "lead a step to it, or take it out"
            book.refuse(node.said.line, what, "no command of another step leads to it", do)
    book.close()
    return nodes


def targets(node: Node) -> list[int | None]:
    """Where a step leads, in order, each once."""
    onward = node.said.onward
    if node.decision is not None:
        return list(dict.fromkeys([*leaves(node.decision), *(node.limit or ())]))
    if isinstance(onward, To):
        return [onward.step]
    if isinstance(onward, Verdict):
        return [onward.passed] if node.checkpoint else list(dict.fromkeys((onward.passed, onward.failed)))
    config = onward.config
    return [config.pass_step, config.work_step]  # type: ignore[list-item]  # numbers, by the reader


def step_ids(titles: Iterable[str]) -> list[str]:
    """An id for each step, from its title, no two alike."""
    found: list[str] = []
    for number, title in enumerate(titles, 1):
        words = re.findall(r"[a-z0-9]+", title.lower())
        while len(words) > 1 and len("-".join(words)) > 40:
            words.pop()
        name = "-".join(words)[:40].strip("-")
        if not name[:1].isalpha() or name in _RESERVED:
            name = f"step{number}" if not name or name[:1].isdigit() else f"{name}-{number}"
        if name in found:
            name = f"{name}-{number}"
        while name in found:
            name += "x"
        found.append(name)
    return found


def _decide(node: Node, seen: Seen, book: Book) -> None:
    """Give the step its decision, where its ways lead to different steps, and the bound that the code has."""
    ways = [(way.values, said.onward) for way, said in seen.ways]
    given = [(values, onward) for values, onward in ways if None not in values.values()] or ways
    known = {onward for _, onward in given}
    for values in [values for values, onward in ways if onward not in known][:1]:
        flags = ", ".join(seen.parameters[name].flag for name, value in values.items() if value is None)
        what = f"step {node.number} leads on in another way without {flags}"
        do = "give it choices, one of them for this way"
        book.refuse(node.said.line, what, "the new step asks for it, so it is always there", do)
    if len(known) == 1:
        node.said = replace(node.said, onward=given[0][1])
        return
    names = dict.fromkeys(name for values, _ in given for name in values)
    parameters = [seen.parameters[name] for name in names]
    counters = [one for one in parameters if one.type in ("int", "float") and not one.choices]
    others = [one for one in parameters if one not in counters]
    if not _can_decide(node, known, parameters, counters, book):
        return
    found = tables(given, counters, others, seen)
    if found is None:
        what = f"step {node.number} has more than {MOST} combinations of values"
        book.refuse(node.said.line, what, "they are looked at one by one", "decide by fewer parameters")
        return
    if counters:
        limit = counting.limit(seen, counters[0], found, book)
        if limit is None:
            return
        node.counter, node.loop, node.bound, node.limit = counters[0].name, limit[0], limit[1], limit[2:]
    decision = tree(others, seen, found[0][1], {})
    if isinstance(decision, Decision):
        node.decision = decision
    elif not counters:
        node.said = replace(node.said, onward=To(decision))
    else:
        node.decision = Decision(None, (((), decision),))


def _can_decide(
    node: Node, known: set[Onward], parameters: Sequence[Parameter], counters: Sequence[Parameter], book: Book
) -> bool:
    """Whether a handler could choose between the ways; the book says why not."""
    before = book.noted
    if node.said.dispatch is not None or not all(isinstance(onward, To) for onward in known):
        do = "let a step of its own decide"
        what = f"step {node.number} decides by a parameter, and by a verdict or its sub-agents too"
        book.refuse(node.said.line, what, "a step is decided by one of them", do)
    for parameter in parameters:
        if parameter.name in ("qr_status", "qr_fail", "qr_iteration"):
            do = "print the gate with format_gate_step: it becomes a Gate, which reads the verdict"
            book.refuse(parameter.line, f"{parameter.flag} decides the way on", "a verdict is read, not believed", do)
    if len(counters) > 1:
        what = f"{counters[0].flag} and {counters[1].flag} both count in step {node.number}"
        book.refuse(counters[1].line, what, "one loop has one bound", "count the passes with one of them")
    return book.noted == before


def _gates(nodes: list[Node], book: Book) -> None:
    """Pair each gate with the step that leads to it, which becomes its review."""
    for gate in nodes:
        if not isinstance(gate.said.onward, GateWay):
            continue
        config = gate.said.onward.config
        before = [node for node in nodes if gate.number in targets(node) and node is not gate]
        reviews = [node for node in before if _reviews(node, gate.number, config)]
        if len(reviews) != 1 or len(before) != 1:
            do = f"let the review alone lead to step {gate.number}: by LinearRouting, or with the gate as if_fail"
            what = f"the gate {gate.number} does not follow from one review"
            book.refuse(gate.said.line, what, "a Gate reads the verdict of the review before it", do)
            continue
        name = step_ids([config.qr_name])[0]
        gate.gate, gate.checkpoint = config, name
        reviews[0].checkpoint = name
        reviews[0].said = replace(reviews[0].said, onward=Verdict(gate.number, gate.number))


def _reviews(node: Node, gate: int, config: GateConfig) -> bool:
    onward = node.said.onward
    if node.decision is not None or node.number == config.work_step:
        return False
    if isinstance(onward, Verdict):
        return onward.failed == gate and onward.passed in (gate, config.pass_step)
    agent = node.said.dispatch.agent if isinstance(node.said.dispatch, Dispatch) else None
    return onward == To(gate) and agent in (None, "quality-reviewer")


def _reached(nodes: Sequence[Node], start: int, gates: bool = True) -> set[int]:
    """The steps that can be reached from one; it itself only where a loop leads back.

    Without ``gates`` the way back from a gate does not count: it has a bound of its own.
    """
    found: set[int] = set()
    stack = [start]
    while stack:
        node = nodes[stack.pop() - 1]
        for target in targets(node) if gates or node.gate is None else [node.gate.pass_step]:
            if isinstance(target, int) and target not in found:
                found.add(target)
                stack.append(target)
    return found


def _bounds_by_number(nodes: Sequence[Node], bounds: Mapping[str, int], book: Book) -> dict[int, int]:
    found: dict[int, int] = {}
    for name, bound in bounds.items():
        number = next((node.number for node in nodes if name in (node.id, str(node.number))), None)
        if number is None:
            valid = ", ".join(f"{node.number} {node.id}" for node in nodes)
            book.refuse(0, f"--max-iterations {name}={bound}: there is no such step", f"there are {valid}", "name one")
        else:
            found[number] = bound
    return found


def _give_outcomes(node: Node, reached: Mapping[int, set[int]], bounds: dict[int, int], book: Book) -> None:
    """Name the outcome that leads to each target: ITERATE into the loop, the others by how far on they lead."""
    if node.gate is not None:
        node.outcomes = {Outcome.OK: node.gate.pass_step, Outcome.FAIL: node.gate.work_step}  # type: ignore[dict-item]
        return
    ends = targets(node)
    ahead = sorted(ends, key=lambda end: (end is None or end <= node.number, end is None, end or 0))
    loop = _loop(node, ends, reached)
    if loop is not None:
        ahead.remove(loop)
        node.outcomes[Outcome.ITERATE] = loop
        if node.number in bounds:
            node.bound = bounds.pop(node.number)
        if node.bound is None:
            do = f"say --max-iterations {node.number}=N, or end it in the code: `iteration >= N`"
            what = f"step {node.number} repeats step {loop} without a bound"
            book.refuse(node.said.line, what, "nothing in the code ends the loop", do)
    if isinstance(node.said.onward, Verdict) and len(ahead) == 2:
        node.outcomes |= {Outcome.OK: node.said.onward.passed, Outcome.FAIL: node.said.onward.failed}
    elif len(ahead) > len(_FORWARD):
        do = "let a step in between take some of them"
        book.refuse(node.said.line, f"step {node.number} has {len(ends)} ways on", "a step has at most four", do)
    else:
        node.outcomes = dict(zip(_FORWARD, ahead, strict=False)) | node.outcomes
    if node.limit is not None:
        node.at_limit = next(one for one, end in node.outcomes.items() if (end,) == node.limit)


def _loop(node: Node, ends: Sequence[int | None], reached: Mapping[int, set[int]]) -> int | None:
    """The step that a step with several ways on repeats: the one that its code bounds, else the nearest before it.

    Where none is before it, the loop may also lie ahead, if another way leads out of it.
    """
    if node.loop is not None or len(ends) < 2:
        return node.loop
    inside = [end for end in ends if end is not None and (end == node.number or node.number in reached[end])]
    behind = [end for end in inside if end <= node.number]
    if behind:
        return max(behind)
    return min(inside) if inside and len(inside) < len(ends) else None


def _check_loops(nodes: Sequence[Node], book: Book) -> None:
    """Note a loop that no bounded ITERATE and no gate ends."""
    free = {
        node.number: [end for outcome, end in node.outcomes.items() if end is not None and outcome != Outcome.ITERATE]
        for node in nodes
        if node.gate is None
    }
    for node in nodes:
        found: set[int] = set()
        stack = [node.number]
        while stack:
            for end in free.get(stack.pop(), ()):
                if end not in found:
                    found.add(end)
                    stack.append(end)
        if node.number in found:
            do = "let one step of it lead out by a parameter, and bound that step"
            book.refuse(node.said.line, f"a loop through step {node.number} has no bound", "it may go on for ever", do)
            return
