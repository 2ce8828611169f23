"""What rules look at: the graph of a workflow, what is read and written along it, its sources and its texts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from skills.lib.validation.function_source import Access
from skills.lib.validation.graph import Graph
from skills.lib.validation.handlers import Handlers, Source
from skills.lib.validation.prompt_texts import Sections
from skills.lib.validation.state_flow import Moment, Read, StateFlow, placeholders


class GraphView(Graph):
    """The graph of a workflow with its values, the sources of its handlers and its texts, each read at most once."""

    @cached_property
    def flow(self) -> StateFlow:
        """What is written and read where, as far as the workflow's data says."""
        return StateFlow(self)

    @cached_property
    def source_flow(self) -> StateFlow:
        """The same, with what the sources of handlers say that they write."""
        return StateFlow(self, self.handlers)

    @cached_property
    def handlers(self) -> Handlers:
        """What the sources of the handlers say."""
        return Handlers(self.steps)

    @cached_property
    def sections(self) -> Sections:
        """The sections of the prompts file, if the file that registers the workflow reads it."""
        return Sections(self.file, read=bool(self.lines.calls_of("read_prompts")))

    def strict_reads(self) -> list[Read]:
        """What handlers read by subscript: a missing value raises KeyError there."""
        return [
            self._read(at, access, source.file, moment)
            for moment, at, source in self._sources()
            for access in source.accesses
            if not access.tolerant
        ]

    def names_read(self) -> tuple[set[str], set[str]] | None:
        """Every ``step.name`` and bare name that anything reads; None if the reads of some handler are unknown."""
        reads = self.flow.reads
        keys = {read.key if "." in read.key else f"{self.steps[read.step].id}.{read.key}" for read in reads}
        names = {read.key for read in reads} | set(placeholders((self.workflow.closing,)))
        for moment, at, source in self._sources():
            if not source.complete:
                return None
            found = {self._read(at, access, source.file, moment).key for access in source.accesses}
            keys |= found
            names |= found
        return keys, names

    def _sources(self) -> Iterator[tuple[Moment, int, Source]]:
        for at, _ in self.distinct:
            if at in self.handlers.by_step:
                yield "leaving", at, self.handlers.by_step[at]
            if at in self.handlers.on_entry:
                yield "entering", at, self.handlers.on_entry[at]

    def _read(self, at: int, access: Access, file: str, moment: Moment) -> Read:
        """What a handler reads, in the same form as the reads that steps declare."""
        if access.area == "workflow_params":
            source = f'ctx.workflow_params["{access.name}"]'
            return Read(at, access.name, source, moment, True, file, access.line)
        step = access.step if access.step is not None else self.steps[at].id
        prefix = "ctx.step_state" if access.step is None else f'ctx.run_state["{step}"]'
        return Read(at, f"{step}.{access.name}", f'{prefix}["{access.name}"]', moment, False, file, access.line)
