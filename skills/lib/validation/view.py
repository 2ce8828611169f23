"""What rules look at: the graph of a workflow, and what is read and written along it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from skills.lib.validation import asked
from skills.lib.validation.graph import Graph
from skills.lib.validation.state_flow import StateFlow

if TYPE_CHECKING:
    from skills.lib.validation.asked import Asked
    from skills.lib.validation.handlers import Handlers
    from skills.lib.validation.wording import Sections


class GraphView(Graph):
    """The graph of a workflow with its values, the sources of its handlers and its texts, each read at most once."""

    @cached_property
    def flow(self) -> StateFlow:
        """What is written and read where."""
        return StateFlow(self)

    @cached_property
    def source_flow(self) -> StateFlow:
        """The same, with what the sources of handlers say that they write."""
        return StateFlow(self, self.handlers)

    @cached_property
    def handlers(self) -> Handlers:
        """What the sources of the handlers say."""
        from skills.lib.validation.handlers import Handlers

        return Handlers(self.steps)

    @cached_property
    def asked(self) -> list[Asked]:
        """What is asked for with choices or a range."""
        return list(asked.asked(self))

    @cached_property
    def sections(self) -> Sections:
        """The sections of the prompts file, where the file that registers the workflow reads it."""
        from skills.lib.validation.wording import Sections

        return Sections(self.file, read=bool(self.lines.calls_of("read_prompts")))
