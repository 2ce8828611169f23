"""One event of a host: the same few facts, whatever the host and its names for them."""

from __future__ import annotations

import os

from skills.lib.hosts.hook import sessions, shell_commands, tools
from skills.lib.shell_words import POWERSHELL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# A host's event -> what it is about.
_KINDS = {
    "PreToolUse": "tool",
    "BeforeTool": "tool",
    "PostToolUse": "result",
    "PostToolUseFailure": "result",
    "AfterTool": "result",
    "UserPromptSubmit": "turn",
    "BeforeAgent": "turn",
    "SessionStart": "begin",
    "PreCompact": "compact",
    "Stop": "stop",
    "SubagentStop": "stop",
    "AfterAgent": "stop",
    "SessionEnd": "end",
}
_OF_TOOLS = ("tool", "result")


class Denied(Exception):
    """Carries the reason of a denial."""


class Event:
    """What the host says happened; ids and names are text from outside."""

    __slots__ = (
        "host",
        "name",
        "kind",
        "session",
        "agent",
        "cwd",
        "tool",
        "call",
        "payload",
        "given",
        "targets",
        "command",
        "words",
        "again",
        "waits",
        "between",
        "prompt",
        "transcript",
    )

    def __init__(self, host: str, payload: Mapping[str, Any]) -> None:
        self.host = host
        self.name = text_of(payload, "hook_event_name")
        self.kind = _KINDS.get(self.name, "")
        self.session = text_of(payload, "session_id")
        self.agent = text_of(payload, "agent_id")
        self.cwd = text_of(payload, "cwd")
        self.tool = text_of(payload, "tool_name")
        self.call = text_of(payload, "tool_use_id")  # Gemini CLI gives a call no id
        self.payload = payload
        given = payload.get("tool_input")
        self.given: Mapping[str, Any] = given if isinstance(given, dict) else {}
        meant = tools.meanings(host, self.tool, self.given) if self.kind in _OF_TOOLS else frozenset(("",))
        self.targets = [] if meant.isdisjoint(("edit", "write")) else tools.targets(self.tool, self.given)
        # What an unknown tool runs is looked into for a run's name, and is never one of the commands that are free.
        self.command = shell_commands.command_of(self.given) if not meant or "shell" in meant else ""
        self.words = self._words() if "shell" in meant else []
        self.again = bool(payload.get("stop_hook_active"))
        tasks = payload.get("background_tasks")
        # Qwen Code reports a turn after each tool's result too, with no prompt.
        self.between = payload.get("prompt") == ""
        self.prompt = text_of(payload, "prompt")
        self.transcript = text_of(payload, "transcript_path")
        # Qwen Code lists a sub-agent that stops as still running.
        others = [one for one in tasks if isinstance(one, dict)] if isinstance(tasks, list) else []
        self.waits = any(_is_agent(one) and one.get("id") != self.agent for one in others)

    def _words(self) -> list[str]:
        if self.tool != tools.POWERSHELL_TOOL:
            return shell_commands.words_of(self.given)
        from skills.lib.guard import shell_windows  # one host has a tool for it

        return shell_windows.words_of(self.command, POWERSHELL)

    @property
    def own(self) -> str:
        """The name of the session file of the agent that the event is of."""
        return sessions.name_of(self.host, self.session, self.agent)

    @property
    def main(self) -> str:
        """The name of the session file of the session's main agent."""
        return sessions.name_of(self.host, self.session)

    @property
    def folder(self) -> str:
        """The folder that a command runs in."""
        asked = [self.given.get(name) for name in ("workdir", "cwd", "directory", "dir_path")]
        return os.path.join(self.cwd or os.getcwd(), *[place for place in asked if isinstance(place, str)])


def text_of(payload: Mapping[str, Any], name: str) -> str:
    """What a payload has under a name, as text; empty if it has nothing."""
    value = payload.get(name)
    return value if isinstance(value, str) else "" if value is None else str(value)


def write(file: int, text: str) -> None:
    """Write to an output of the process; if it is closed, the exit code still says what is to be done."""
    data = text.encode("utf-8", "replace")
    try:
        while data:
            data = data[os.write(file, data) :]
    except OSError:
        return


def _is_agent(task: Mapping[str, Any]) -> bool:
    """True if a background task is a sub-agent at work, whose end wakes the session."""
    return task.get("status") == "running" and (task.get("type") == "subagent" or "agent_type" in task)
