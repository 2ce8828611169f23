"""What rules look at: the graph of a workflow, what is read and written along it, its sources and its texts."""

from __future__ import annotations

from functools import cached_property

from skills.lib.validation.graph import Graph
from skills.lib.validation.handlers import Handlers
from skills.lib.validation.prompt_texts import Sections
from skills.lib.validation.requested import Requested, requested
from skills.lib.validation.state_flow import StateFlow


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
    def requested(self) -> list[Requested]:
        """What is requested with choices or a range."""
        return list(requested(self))

    @cached_property
    def sections(self) -> Sections:
        """The sections of the prompts file, if the file that registers the workflow reads it."""
        return Sections(self.file, read=bool(self.lines.calls_of("read_prompts")))
