"""The tools of a session as data, without a framework: those of a project, and those of a run."""

from __future__ import annotations

from skills.lib.agent.tools import reading, searching, shell, todos, writing
from skills.lib.agent.tools.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from skills.lib.agent.configuration.lockstep_toml import Shell
    from skills.lib.agent.tools.tool import Tool


def project_tools(
    project: str,
    home: str = "",
    *,
    readable: Sequence[str] = (),
    inherit: Sequence[str] = (),
    text_of: Callable[[str, str], str] | None = None,
    configured: Shell | None = None,
) -> list[Tool]:
    """The tools ``read``, ``search``, ``write``, ``edit`` and ``shell`` of one session in a project.

    ``home`` is the folder of the ledger; ``readable`` are folders that may be read and not written, such as that of the
    skill; ``inherit`` names variables that programs get beside the usual ones; ``text_of`` makes of a path and the text
    there what ``read`` shows; ``configured`` are the settings of ``shell``. Raises LockstepError.
    """
    files = Workspace(project, home, readable, text_of)
    return [
        reading.tool(files),
        searching.tool(files),
        *writing.tools(files),
        shell.tool(files, configured, inherit),
    ]


def essential_tools(home: str, run: str) -> list[Tool]:
    """The tools ``abort``, ``todowrite`` and ``todoread`` of a run, which every step offers."""
    return todos.tools(home, run)
