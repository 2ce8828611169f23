"""What a workflow requests within limits: fields of its steps, and parameters, with choices or a range."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skills.lib.model import values
from skills.lib.model.requirements import Arg, Field

if TYPE_CHECKING:
    from skills.lib.validation.locations import Lines
    from skills.lib.validation.topology import Topology


@dataclass(frozen=True, slots=True)
class Requested:
    """One requested value: ``name`` is its name in a message, ``step`` is None for a parameter of the run.

    A parameter has the ``lines`` of the file; the location of a field is its step's.
    """

    spec: Arg | Field
    name: str
    step: int | None
    lines: Lines | None = None

    @property
    def line(self) -> int | None:
        """The line of a parameter; None for a field."""
        return self.lines.of_parameter(self.spec.name) if self.lines else None


def requested(graph: Topology) -> Iterator[Requested]:
    """Every field and parameter with choices or a range, in the order of the workflow."""
    for at, step in enumerate(graph.steps):
        for spec in step.requires:
            if isinstance(spec, Field) and _is_limited(spec):
                yield Requested(spec, f"the field {spec.name} of {step.id}", at)
    for arg in graph.workflow.params:
        if _is_limited(arg):
            at_step = None if arg.step is None else graph.index.get(arg.step)
            yield Requested(arg, f"the parameter {arg.flag}", at_step, graph.lines)


def has_empty_range(spec: Arg | Field) -> bool:
    """True if its minimum is above its maximum, so that no value fits."""
    return spec.minimum is not None and spec.maximum is not None and spec.minimum > spec.maximum


def as_choice(spec: Arg | Field) -> Field:
    """The requirement that one choice must meet: a value of the same type, or for a list one of its entries."""
    if spec.type == "list":
        return Field(spec.name)
    if has_empty_range(spec):
        return Field(spec.name, spec.type)
    return Field(spec.name, spec.type, minimum=spec.minimum, maximum=spec.maximum)


def read_choice(spec: Arg | Field, choice: str) -> str:
    """The value that the choice stands for, as text, so that equal choices compare equal; itself if it is no value."""
    one = as_choice(spec)
    return repr(values.read(one, choice)) if values.fits(one, choice) else choice


def _is_limited(spec: Arg | Field) -> bool:
    return bool(spec.choices) or (spec.minimum is not None and spec.maximum is not None)
