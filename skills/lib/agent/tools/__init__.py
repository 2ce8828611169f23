"""The tools of an agent: functions without a framework, and the same for LangChain, which is imported when asked for.

Files are read and written in a project alone; ``shell`` runs programs without a shell. What a tool cannot do it says
by a LockstepError: what was wrong, what is valid, what to try.
"""

from __future__ import annotations

from skills.lib.agent.tools.catalog import essential_tools, project_tools
from skills.lib.agent.tools.tool import Result, Tool, never

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from langchain_core.tools import BaseTool

    from skills.lib.agent.configuration.lockstep_toml import Shell

__all__ = ["Result", "Tool", "essential_tools", "essentials_of", "of", "project_tools"]


def of(
    project: str,
    home: str = "",
    *,
    readable: Sequence[str] = (),
    inherit: Sequence[str] = (),
    text_of: Callable[[str, str], str] | None = None,
    configured: Shell | None = None,
    stopped: Callable[[], bool] = never,
) -> list[BaseTool]:
    """``project_tools`` for LangChain. A reader has the metadata ``{"reads": True}``.

    A command ends soon after ``stopped`` says so, and if the task that awaits its call is cancelled.
    """
    from skills.lib.agent.tools.langchain_tools import adapted

    made = project_tools(project, home, readable=readable, inherit=inherit, text_of=text_of, configured=configured)
    return [adapted(tool, stopped) for tool in made]


def essentials_of(home: str, run: str) -> list[BaseTool]:
    """``essential_tools`` of a run for LangChain; ``abort`` has the metadata ``{"ends": True}``."""
    from skills.lib.agent.tools.langchain_tools import adapted

    return [adapted(tool) for tool in essential_tools(home, run)]
