"""Which reads are of a value that a run never keeps, because its name says that it is a secret."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from skills.lib.model.values import SECRET_NAMES

if TYPE_CHECKING:
    from skills.lib.validation.state_flow import Read
    from skills.lib.validation.view import GraphView


def unkept(graph: GraphView, reads: Iterable[Read]) -> Iterator[tuple[Read, str]]:
    """The reads of which a note is all that is left, each with the word of its name that says why."""
    words: dict[str, str] = {}
    for read in reads:
        name = read.key.rpartition(".")[2]
        if name not in words:
            words[name] = next((word for word in SECRET_NAMES if word in name.lower()), "")
        if words[name] and _is_written(graph, read):
            yield read, words[name]


def _is_written(graph: GraphView, read: Read) -> bool:
    """Whether some step or the opening has written it; what a step itself reports, it reads as it was given."""
    source, dot, name = read.key.rpartition(".")
    if dot:
        at = graph.index.get(source)
        written = graph.flow.writes(at) if at is not None else frozenset()
        return written is None or name in written
    step = graph.steps[read.step]
    own = set(step.records) | graph.flow.step_params.get(step.id, set())
    return name in graph.flow.run_params and name not in own
