"""The hooks of each host, all to one Python program."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from string import Template
from typing import Any

from skills.lib.blocks.command_line import join
from skills.lib.hosts.install import runtime

# How long a host waits for the hook, in seconds: the hook gives up by itself after five, and then says so.
TIMEOUT = 30
# The events of each host that the hook serves; True if the host wants a pattern for the tools.
_CLAUDE_SHAPED = {
    "PreToolUse": True,
    "UserPromptSubmit": False,
    "SessionStart": False,
    "PreCompact": False,
    "Stop": False,
    "SubagentStop": False,
    "SessionEnd": False,
}
EVENTS: dict[str, dict[str, bool]] = {
    "claude": _CLAUDE_SHAPED,
    "codex": _CLAUDE_SHAPED,
    "qwen": _CLAUDE_SHAPED,
    "gemini": {
        "BeforeTool": True,
        "BeforeAgent": False,
        "SessionStart": False,
        "AfterAgent": False,
        "SessionEnd": False,
    },
}
# Codex gives this event no more time, and warns of more; the hook then only forgets a session.
_SHORTER = {("codex", "SessionEnd"): 3}
_IN_MILLISECONDS = frozenset({"qwen", "gemini"})
PROGRAM = ("lib", "hosts", "hook", "run_hook.py")


def command(host: str, stops: int) -> list[str]:
    """The words that start the runtime's hook; -I and -S keep the user's environment and packages out of it."""
    program = os.path.join(runtime.folder(runtime.version()), "skills", *PROGRAM)
    return [sys.executable, "-IS", program, "--host", host, "--stops", str(stops)]


def is_ours(hook: Any, host: str) -> bool:
    """True if an entry of a host's settings calls our program for that host."""
    given = hook.get("command") if isinstance(hook, dict) else None
    name = PROGRAM[-1]  # an older version has the program in another folder
    return isinstance(given, str) and f"{os.sep}hosts{os.sep}" in given and name in given and f" --host {host}" in given


def plugin(stops: int) -> bytes:
    """The plugin with which opencode calls the hook."""
    template = Path(__file__).with_name("opencode.js.template").read_text(encoding="utf-8")
    words = command("opencode", stops)
    filled = Template(template).substitute(command=json.dumps(words), timeout=TIMEOUT * 1000)
    return filled.encode()


def groups(host: str, stops: int) -> dict[str, dict[str, Any]]:
    """The entry of each event."""
    line, factor = join(command(host, stops)), 1000 if host in _IN_MILLISECONDS else 1
    found = {}
    for event, matched in EVENTS[host].items():
        timeout = _SHORTER.get((host, event), TIMEOUT) * factor
        hook = {"type": "command", "command": line, "timeout": timeout}
        found[event] = {**({"matcher": "*"} if matched else {}), "hooks": [hook]}
    return found
