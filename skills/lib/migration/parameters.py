"""Where each parameter of a legacy script goes: to the run, to leaving one step, to what a step records, or nowhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from skills.lib.migration.graph import Node
from skills.lib.migration.refusals import Book
from skills.lib.migration.tables import Decision, Seen
from skills.lib.migration.values import Parameter
from skills.lib.workflow.core import RESERVED_FLAGS
from skills.lib.workflow.types import Outcome

# What the engine keeps itself.
KEPT = frozenset(("step", "total_steps", "qr_status", "qr_iteration", "qr_fail"))


@dataclass
class Placed:
    """The parameters of the run, of leaving a step (with its id), and of what several steps record.

    ``shown`` are parameters of the run that decide nothing: every step shows them.
    """

    run: list[Parameter] = field(default_factory=list)
    leaving: list[tuple[str, Parameter]] = field(default_factory=list)
    recorded: dict[str, list[Parameter]] = field(default_factory=dict)
    shown: list[str] = field(default_factory=list)

    def is_recorded(self, node: Node, parameter: Parameter) -> bool:
        """Whether a step reads a parameter from what it recorded."""
        return parameter in self.recorded.get(node.id, ())


def place(parameters: Mapping[str, Parameter], nodes: Sequence[Node], seen: Sequence[Seen], book: Book) -> Placed:
    """Place every parameter; in the book stands one that a Workflow cannot have."""
    placed = Placed()
    counters = {node.counter for node in nodes}
    for parameter in parameters.values():
        name = parameter.name
        deciding = [node for node in nodes if parameter in deciders(node.decision)]
        if name in KEPT or (name in counters and not deciding):
            continue
        _check(parameter, book)
        loops = any(Outcome.ITERATE in node.outcomes for node in deciding)
        if not deciding:
            placed.run.append(parameter)
            placed.shown.append(name)
        elif not loops and (parameter.required or parameter.default is not None or len(deciding) > 1):
            _check_carried(parameter, seen, book)
            placed.run.append(parameter)
        elif len(deciding) == 1:
            placed.leaving.append((deciding[0].id, parameter))
        else:
            for node in deciding:
                placed.recorded.setdefault(node.id, []).append(parameter)
    return placed


def deciders(tree: Decision | int | None) -> Iterator[Parameter]:
    """The parameters of a decision, each as often as it is asked."""
    if isinstance(tree, Decision):
        if tree.parameter is not None:
            yield tree.parameter
        for _, below in tree.branches:
            yield from deciders(below)


def _check(parameter: Parameter, book: Book) -> None:
    flag = parameter.flag[2:]
    if flag in RESERVED_FLAGS:
        what = f"the parameter {parameter.flag}"
        book.refuse(parameter.line, what, "it is a flag of every step script", "give it another name")
    elif not (parameter.name.isascii() and parameter.name.replace("_", "a").isalnum() and parameter.name[0].isalpha()):
        what = f"the parameter {parameter.flag}"
        book.refuse(parameter.line, what, "its name is no name of a value", "use letters, digits and -")


def _check_carried(parameter: Parameter, seen: Sequence[Seen], book: Book) -> None:
    """Note a command that sets the parameter: that of a run is fixed when it opens."""
    for one in seen:
        for _, said in one.ways:
            value = said.carried.get(parameter.name)
            valid = parameter.choices or {literal for each in seen for literal in each.literals.get(parameter.name, ())}
            if isinstance(value, str) and value in valid:
                what = f"a next command that sets {parameter.flag} to {value}"
                do = f"pass {parameter.flag} on as it is"
                book.refuse(said.line, what, "a parameter of the run is fixed when it opens", do)
