"""The reads of handlers, in the same form as the reads that steps declare."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from skills.lib.validation.state_flow import Read, placeholders

if TYPE_CHECKING:
    from skills.lib.validation.context_reads import Access
    from skills.lib.validation.handlers import Source
    from skills.lib.validation.state_flow import Moment
    from skills.lib.validation.view import GraphView


def strict_reads(graph: GraphView) -> list[Read]:
    """What handlers read by subscript: a missing value raises KeyError there."""
    return [
        _read(graph, at, access, source.file, moment)
        for moment, at, source in _sources(graph)
        for access in source.accesses
        if not access.tolerant
    ]


def keys_read(graph: GraphView) -> set[str] | None:
    """Every ``step.name`` that anything reads; None if the reads of some handler are unknown."""
    keys = set(_declared(graph))
    for moment, at, source in _sources(graph):
        if not source.complete:
            return None
        keys.update(_read(graph, at, access, source.file, moment).key for access in source.accesses)
    return keys


def params_read(graph: GraphView) -> set[str] | None:
    """Every parameter that anything reads by its bare name; None if the reads of some handler are unknown."""
    names = {read.key for read in graph.flow.reads} | set(placeholders((graph.workflow.closing,)))
    for _, _, source in _sources(graph):
        if not source.complete:
            return None
        names.update(access.name for access in source.accesses if access.area == "workflow_params")
    return names


def _sources(graph: GraphView) -> Iterator[tuple[Moment, int, Source]]:
    for at, _ in graph.distinct:
        if at in graph.handlers.by_step:
            yield "leaving", at, graph.handlers.by_step[at]
        if at in graph.handlers.on_entry:
            yield "entering", at, graph.handlers.on_entry[at]


def _declared(graph: GraphView) -> Iterator[str]:
    for read in graph.flow.reads:
        yield read.key if "." in read.key else f"{graph.steps[read.step].id}.{read.key}"


def _read(graph: GraphView, at: int, access: Access, file: str, moment: Moment) -> Read:
    if access.area == "workflow_params":
        source = f'ctx.workflow_params["{access.name}"]'
        return Read(at, access.name, source, moment, True, file, access.line)
    step = access.step if access.step is not None else graph.steps[at].id
    prefix = "ctx.step_state" if access.step is None else f'ctx.run_state["{step}"]'
    return Read(at, f"{step}.{access.name}", f'{prefix}["{access.name}"]', moment, False, file, access.line)
