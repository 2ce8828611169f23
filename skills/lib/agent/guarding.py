"""The policies that hold for a session's calls: the same files, facts and answers as in the hook of a host."""

from __future__ import annotations

import os

from skills.lib import compact_json, status_files
from skills.lib.hosts.hook import guarding, learning
from skills.lib.hosts.hook.event import Denied, Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from skills.lib.agent.calls import Ended

HOST = "lockstep"
_EXIT = "exit"


class Guarding:
    """Asks the policies of a project and of a run, and tells them what came of each call."""

    def __init__(self, project: str, run: str) -> None:
        self._project, self._run = project, run
        # Sub-agents are of one session: what is known is known to all of them. The same task has the same run's id in
        # each project.
        self._main = run.partition(".")[0]
        self._session = compact_json.digest([os.path.realpath(project), self._main])

    def check(self, tool: str, arguments: Mapping[str, Any], key: str) -> str:
        """Why a policy does not allow a call; "" if all do."""
        try:
            guarding.check(self._event("PreToolUse", tool, arguments, key), self._statuses(), {"open": False})
        except Denied as denied:
            return str(denied)
        return ""

    def learn(self, tool: str, arguments: Mapping[str, Any], key: str, ended: Ended) -> None:
        """Have the policies learn from what a call came to."""
        shown: Any = dict(ended.data) if _EXIT in ended.data else ended.text
        result = {"tool_response": shown} if ended.ok or _EXIT in ended.data else {"error": shown}
        kind = "PostToolUse" if "tool_response" in result else "PostToolUseFailure"
        learning.learn(self._event(kind, tool, arguments, key, result), self._statuses())

    def _event(
        self,
        kind: str,
        tool: str,
        arguments: Mapping[str, Any],
        key: str,
        more: Mapping[str, Any] | None = None,
    ) -> Event:
        payload = {
            "hook_event_name": kind,
            "session_id": self._session,
            "cwd": self._project,
            "tool_name": tool,
            "tool_use_id": f"{self._run}-{key}",
            "tool_input": dict(arguments),
        }
        return Event(HOST, {**payload, **(more or {})})

    def _statuses(self) -> list[Any]:
        """The statuses of the run and of that which started it, by which their policies are found."""
        found = [status_files.read(self._project, run) for run in dict.fromkeys((self._run, self._main))]
        return [status for status in found if status is not None]
