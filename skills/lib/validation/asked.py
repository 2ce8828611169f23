"""What a workflow asks to be reported within limits: fields of its steps, and parameters, with choices or a range."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skills.lib.model import values
from skills.lib.model.requirements import Arg, Field

if TYPE_CHECKING:
    from skills.lib.validation.lines import Lines
    from skills.lib.validation.topology import Topology


@dataclass(frozen=True, slots=True)
class Asked:
    """One value that is asked for: ``name`` is how a message calls it, ``step`` is None for one of the run.

    ``lines`` are those of the file, for a parameter: a field is found by its step.
    """

    spec: Arg | Field
    name: str
    step: int | None
    lines: Lines | None = None

    @property
    def line(self) -> int | None:
        """The line of a parameter."""
        return self.lines.of_parameter(self.spec.name) if self.lines else None


def asked(graph: Topology) -> Iterator[Asked]:
    """Every field and parameter with choices or a range, in the order of the workflow."""
    for at, step in enumerate(graph.steps):
        for spec in step.requires:
            if isinstance(spec, Field) and _is_limited(spec):
                yield Asked(spec, f"the field {spec.name} of {step.id}", at)
    for arg in graph.workflow.params:
        if _is_limited(arg):
            at_step = None if arg.step is None else graph.index.get(arg.step)
            yield Asked(arg, f"the parameter {arg.flag}", at_step, graph.lines)


def has_empty_range(spec: Arg | Field) -> bool:
    """Whether no value lies within its bounds."""
    return spec.minimum is not None and spec.maximum is not None and spec.minimum > spec.maximum


def as_choice(spec: Arg | Field) -> Field:
    """What one choice must be: a value of the same type, an entry of a list."""
    if spec.type == "list":
        return Field(spec.name)
    if has_empty_range(spec):
        return Field(spec.name, spec.type)
    return Field(spec.name, spec.type, minimum=spec.minimum, maximum=spec.maximum)


def read_choice(spec: Arg | Field, choice: str) -> str:
    """The choice as it is compared: two that read alike are one. One that cannot be read stands as it is."""
    one = as_choice(spec)
    return repr(values.read(one, choice)) if values.fits(one, choice) else choice


def _is_limited(spec: Arg | Field) -> bool:
    return bool(spec.choices) or (spec.minimum is not None and spec.maximum is not None)
