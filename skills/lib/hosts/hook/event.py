"""One event of a host: the same few facts, whatever the host and its names for them."""

from __future__ import annotations

import os

from skills.lib import compact_json
from skills.lib.hosts.hook import tools

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
# Hosts cut what a hook says at 10,000 characters.
LONGEST = 9_900
_OF_TOOLS = ("tool", "result")
_IN_A_HOST = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_CAPITAL = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_PLAIN = _IN_A_HOST | _CAPITAL | frozenset("-_")


class Denied(Exception):
    """Carries the reason of a denial."""


class Trees:
    """The content of working trees, each computed at most once for an event: git is started for it."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[str, str | None] = {}

    def of(self, folder: str) -> str | None:
        """The content of the working tree around a folder; None outside of one, or if it cannot be told."""
        from skills.lib.guard import worktree  # few rules ask for it

        top = worktree.root(folder)
        if top not in self._known:
            self._known[top] = worktree.tree(folder)
        return self._known[top]


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
        "meant",
        "targets",
        "command",
        "_words",
        "_step",
        "again",
        "waits",
        "between",
        "prompt",
        "transcript",
        "trees",
    )

    def __init__(self, host: str, payload: Mapping[str, Any]) -> None:
        self.host = host
        self.name = text_of(payload, "hook_event_name")
        self.trees = Trees()
        self.kind = _KINDS.get(self.name, "")
        self.session = text_of(payload, "session_id")
        self.agent = text_of(payload, "agent_id")
        self.cwd = text_of(payload, "cwd")
        self.tool = text_of(payload, "tool_name")
        self.call = text_of(payload, "tool_use_id")  # Gemini CLI gives a call no id
        self.payload = payload
        given = payload.get("tool_input")
        self.given: Mapping[str, Any] = given if isinstance(given, dict) else {}
        # The canonical names of the call.
        self.meant = meant = tools.meanings(host, self.tool, self.given) if self.kind in _OF_TOOLS else frozenset(("",))
        self.targets = [] if meant.isdisjoint(("edit", "write")) else tools.targets(self.tool, self.given)
        self.command = ""
        self._words: list[str] | None = None if "shell" in meant else []
        self._step: list[str] | None = None
        if not meant or "shell" in meant:
            from skills.lib.hosts.hook.shell_calls import command_of

            # What an unknown tool runs is looked into for a run's name, and is never one of the commands that are free.
            self.command = command_of(self.given)
        self.again = bool(payload.get("stop_hook_active"))
        tasks = payload.get("background_tasks")
        # Qwen Code reports a turn after each tool's result too, with no prompt.
        self.between = payload.get("prompt") == ""
        self.prompt = text_of(payload, "prompt")
        self.transcript = text_of(payload, "transcript_path")
        # Qwen Code lists a sub-agent that stops as still running.
        others = [one for one in tasks if isinstance(one, dict)] if isinstance(tasks, list) else []
        self.waits = any(_is_agent(one) and one.get("id") != self.agent for one in others)

    @property
    def own(self) -> str:
        """The name of the session file of the agent that the event is of."""
        return name_of(self.host, self.session, self.agent)

    @property
    def main(self) -> str:
        """The name of the session file of the session's main agent."""
        return name_of(self.host, self.session)

    @property
    def words(self) -> list[str]:
        """The words of the command line of a shell tool if it is one simple command, else empty."""
        if self._words is None and self.tool == tools.POWERSHELL_TOOL:
            from skills.lib.guard import shell_windows  # one host has a tool for it
            from skills.lib.shell_words import POWERSHELL

            self._words = shell_windows.words_of(self.command, POWERSHELL)
        elif self._words is None:
            from skills.lib.hosts.hook.shell_calls import words_of

            self._words = words_of(self.given)
        return self._words

    @property
    def step_words(self) -> list[str]:
        """The words of the long command that a call of the launcher stands for; empty for any other call.

        The call is one simple command, with a here-document at most, and nothing behind that.
        """
        if self._step is None:
            self._step = []
            is_shell = "shell" in self.meant and self.tool != tools.POWERSHELL_TOOL
            if is_shell and "/step" in self.command:
                from skills.lib.short_commands import long_words, split  # few calls are of the launcher

                self._step = long_words(self.words or split(self.command)[0])
        return self._step

    @property
    def line(self) -> str:
        """The command line of a shell tool without the report that it gives to the launcher."""
        return self.command.partition("\n")[0] if self.step_words else self.command

    @property
    def folder(self) -> str:
        """The folder that a command runs in."""
        asked = [self.given.get(name) for name in ("workdir", "cwd", "directory", "dir_path")]
        return os.path.join(self.cwd or os.getcwd(), *[place for place in asked if isinstance(place, str)])


def name_of(host: str, session: str, agent: str = "") -> str:
    """The file name of an agent of a session: ``host-session`` or ``host-session.agent``.

    Ids come from outside and may be anything: for one that is not short and plain the name has ``~`` and a digest. Of a
    host's name the letters and digits count.
    """
    name = "".join(char for char in host.lower() if char in _IN_A_HOST)[:40] + _word(session)
    return f"{name}.{_word(agent)}" if agent else name


def _word(given: str) -> str:
    if 0 < len(given) <= 80 and _PLAIN.issuperset(given):
        # Some file systems take a and A for one name. ``early.session_of`` writes an id in the same way.
        return "-" + "".join("=" + char.lower() if char in _CAPITAL else char for char in given)
    return "~" + compact_json.digest(given)


def text_of(payload: Mapping[str, Any], name: str) -> str:
    """What a payload has under a name, as text; empty if it has nothing."""
    value = payload.get(name)
    return value if isinstance(value, str) else "" if value is None else str(value)


def printable(text: str) -> str:
    """The text with a ? for each character that a terminal would act on: names and titles come from outside."""
    return "\n".join("".join(char if char.isprintable() else "?" for char in line) for line in text.split("\n"))


def say_why(denied: Denied) -> None:
    """Write the reason of a denial for the model."""
    write(2, printable(str(denied).strip()[:LONGEST]) + "\n")


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
