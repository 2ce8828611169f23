"""The settings of a session, and the switches of what keeps it on its skill."""

from __future__ import annotations

from skills.lib.field_checks import check_count
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

AUTONOMOUS, SIMPLE = MODES = ("autonomous", "simple")


class Switches(Record):
    """What keeps a session on its skill; each can be switched off by itself.

    - ``filter_tools``: a model is offered the tools that the step allows, and no other runs.
    - ``protect_block``: the block of the step is never deleted to make a call fit; other sections are.
    - ``reduce_noise``: the system prompt has no list of sub-agents, and the block comes after all else.
    - ``remind_last``: the system prompt ends with a reminder of the skill.
    - ``reinforce``: from the second model call of a step on, the reminder repeats what holds.
    - ``protect_in_summaries``: a summary of the conversation leaves the block as it is; without it, the summary of a
      step's beginning takes the block.
    """

    filter_tools: bool = True
    protect_block: bool = True
    reduce_noise: bool = True
    remind_last: bool = True
    reinforce: bool = True
    protect_in_summaries: bool = True


class Settings(Record):
    """The limits of a session.

    ``max_iterations`` counts model calls per entry of a step, or per run of a skill without a graph, and
    ``max_model_calls`` those of a session over all steps of its run (a graph may lead back for ever; sub-agents count
    their own). ``early_ends`` says how often an early end is sent back, ``tool_failures`` how many calls of one tool
    with the same arguments may fail. ``timeout_per_iteration`` bounds each model call and the tool calls that it asks
    for, in seconds; 0 is no bound. Without ``enable_error_recovery`` the first tool call that fails ends the session.
    ``context_tokens`` is the budget of one model call: its system prompt, its messages and its tools. ``undeclared``
    says which tools a step has that names none: all but those that start skills (``all``), or ``essential`` ones alone.

    Of a skill without a graph: ``execution_mode`` is ``simple`` for one pass, and without ``early_termination`` a
    report with objectives that are not done is sent back while model calls are left.
    """

    max_iterations: int = 15
    max_model_calls: int = 1_000
    early_ends: int = 3
    tool_failures: int = 3
    context_tokens: int = 100_000
    switches: Switches = Switches()
    undeclared: str = "all"
    timeout_per_iteration: float = 0.0
    early_termination: bool = True
    enable_error_recovery: bool = True
    execution_mode: str = AUTONOMOUS

    def _check(self) -> None:
        for name in ("max_iterations", "max_model_calls", "early_ends", "tool_failures", "context_tokens"):
            check_count(getattr(self, name), f"{self._label} {name}")
        if self.undeclared not in ("all", "essential"):
            raise ValueError(f"{self._label} undeclared: {self.undeclared!r:.40} is neither all nor essential")
        if self.execution_mode not in MODES:
            raise ValueError(f"{self._label} execution_mode: {self.execution_mode!r:.40} is none of {', '.join(MODES)}")
        if not isinstance(self.switches, Switches):
            raise TypeError(f"{self._label} switches: {self.switches!r} is not Switches")

    def changed(self, **fields: Any) -> Settings:
        """The settings with these in place of their own."""
        return Settings(**{**self.fields(), **fields})

    def halved(self) -> Settings:
        """The settings of a sub-agent: half of the model calls of a step."""
        return self.changed(max_iterations=max(1, self.max_iterations // 2))
