"""Holds any agent of LangChain to a run, in one line of it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, Self

from langchain.agents.middleware import ModelRequest
from langchain_core.tools import BaseTool

from skills.lib.agent import children, runs, tools
from skills.lib.agent.agent import Agent
from skills.lib.agent.configuration.settings import Settings
from skills.lib.agent.kept import submissions
from skills.lib.agent.kept.lease import lease
from skills.lib.agent.prompt import Sections
from skills.lib.agent.run_middleware import RunMiddleware
from skills.lib.agent.watching.activity import Activity, path_in


class LockstepMiddleware(RunMiddleware):
    """For ``create_agent(…, middleware=[LockstepMiddleware(run)])``: the run is one that ``Agent.start`` opened.

    The agent's own model and tools also serve the sub-agents of a step. ``tool_names`` maps the tools to the names that
    steps use. ``sections`` are what else stands in the system prompt; to make a call fit its budget some are left out,
    and never the block. Close it after the last call, or use it in a ``with``. Raises UsageError for a run that the
    project does not have, and RefusedError for one that another session drives, or that is submitted to workers.
    """

    is_embedded = True

    def __init__(
        self,
        run: str,
        project: str = ".",
        *,
        settings: Settings | None = None,
        tool_names: Mapping[str, str] | None = None,
        sections: Sections | None = None,
    ) -> None:
        host = Agent(project, settings=settings, tool_names=tool_names)
        run = runs.known(host.project, run).id
        with ExitStack() as opened:
            opened.enter_context(lease(host.home, run))
            submissions.require_none(host.home, run)
            activity = opened.enter_context(Activity(path_in(host.home)))
            following = host.following(run, activity)
            opened.callback(following.runner.close)
            self._opened = opened.pop_all()

        def run_children(request: ModelRequest[Any]) -> None:
            own = [tool for tool in request.tools if isinstance(tool, BaseTool) and tool not in self.tools]
            each = Agent(project, request.model, tools=own, tool_names=tool_names, settings=host.settings.halved())
            children.run(self.following, lambda child: each.drive(child).reason)

        super().__init__(following, run_children, sections)
        self.tools = [*self.tools, *tools.essentials_of(host.home, run)]
        following.limits.begin()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the ledger and the activities, and let others drive the run."""
        self._opened.close()
