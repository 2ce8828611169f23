"""The tools of an agent's sessions: a program's own or Lockstep's, and the commands that a line of a shell has."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skills.lib.errors import LockstepError, UsageError
from skills.lib.guard.offering import ESSENTIAL
from skills.lib.runtime.reporting import REPORT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.tools import BaseTool

    from skills.lib.agent.configuration.lockstep_toml import Shell
    from skills.lib.agent.following import Following


class SessionTools:
    """What the sessions of a project are given: ``own`` are a program's tools in place of Lockstep's.

    Raises UsageError for two tools of one name, and a name that every session uses itself.
    """

    def __init__(self, project: str, home: str, own: Sequence[BaseTool] | None, shell: Shell) -> None:
        self.project, self.home = project, home
        self._own, self._shell = own, shell
        _check_names([tool.name for tool in own or ()])

    def names(self) -> list[str]:
        """The names of the tools that every session has."""
        if self._own is not None:
            return [tool.name for tool in self._own]
        from skills.lib.agent.tools import project_tools  # a session needs them

        return [tool.name for tool in project_tools(self.project, self.home)]

    def of(self, following: Following) -> list[BaseTool]:
        """The tools of one session, which keep what it has read; they also read the skill, and the ledger's folder."""
        from skills.lib.agent import tools  # of the extra
        from skills.lib.agent.planning import kinds

        gateway = kinds.gateway_tools_of(following)
        if gateway is not None:
            own = gateway
        elif self._own is not None:
            own = list(self._own)
        else:
            skill, rules = following.skill_folder(), following.rules
            readable = [self.home, *([skill] if os.path.isfile(os.path.join(skill, "SKILL.md")) else [])]
            text_of = rules.text_of(following.run) if rules is not None else None
            own = tools.of(
                self.project,
                self.home,
                readable=readable,
                text_of=text_of,
                configured=self._shell,
                stopped=following.is_cancelled,
            )
        return [*own, *tools.essentials_of(self.home, following.run)]

    def commands(self, line: str) -> list[Sequence[str]]:
        """The commands of a line, as a step's patterns judge them; none if it writes a file or cannot be read."""
        from skills.lib.agent.tools import command_lines

        try:
            parts = command_lines.read_line(line, self.project)
        except LockstepError:
            return []
        return [] if any(part.writes for part in parts) else [part.argv for part in parts]


def _check_names(names: Sequence[str]) -> None:
    """Raise UsageError for tools of which one would silently take the place of another."""
    own = {*ESSENTIAL, REPORT}
    for name in names:
        if name in own:
            raise UsageError(
                f"the tool {name} has the name of one that every session brings", remedy="name it otherwise"
            )
        if names.count(name) > 1:
            raise UsageError(f"{names.count(name)} tools are called {name}", remedy="give each a name of its own")
