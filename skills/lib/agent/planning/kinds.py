"""What a session of a run needs by the kind of its workflow: a planner's, an execution's, or any other."""

from __future__ import annotations

from skills.lib.agent.following import Following
from skills.lib.agent.planning.following import ExecutionFollowing, PlannerFollowing
from skills.lib.agent.planning.planner import EXECUTION, PLANNER, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from skills.lib.agent.run_middleware import RunMiddleware
    from skills.lib.model.steps import Workflow

_CLASSES = {PLANNER: PlannerFollowing, EXECUTION: ExecutionFollowing}


def following_class(workflow: Workflow) -> type[Following]:
    """How the runs of a workflow are followed."""
    return _CLASSES.get(kind_of(workflow), Following)


def middleware_of(following: Following) -> type[RunMiddleware]:
    """The middleware of a session of the run."""
    from skills.lib.agent.planning.middleware import ExecutionMiddleware  # of the extra
    from skills.lib.agent.run_middleware import RunMiddleware

    return ExecutionMiddleware if isinstance(following, ExecutionFollowing) else RunMiddleware


def gateway_tools_of(following: Following) -> list[BaseTool] | None:
    """The tools of an execution in place of the agent's own; None for any other run."""
    if not isinstance(following, ExecutionFollowing):
        return None
    from skills.lib.agent.planning.tools import gateway_tools
    from skills.lib.agent.tools.langchain_tools import adapted  # of the extra

    return [adapted(tool) for tool in gateway_tools(following.runner.command_line.project)]
