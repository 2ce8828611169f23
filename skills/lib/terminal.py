"""Whether a person types a command: it takes a terminal, and none of the variables that agents' hosts set."""

from __future__ import annotations

import os
import sys

from skills.lib.errors import RefusedError

# What a host, or Lockstep's own agent, sets in the environment of the commands that its agent runs.
AGENTS = {
    "CODEX_THREAD_ID": "Codex",
    "OPENCODE": "opencode",
    "QWEN_CODE": "Qwen Code",
    "GEMINI_CLI": "Gemini CLI",
    "CLAUDECODE": "Claude Code",
    "LOCKSTEP_AGENT": "an agent of Lockstep",
}

# Who is recorded for what a person types.
PERSON = "person (terminal)"


def is_there() -> bool:
    """True if standard input is a terminal; one that is closed is none."""
    return sys.stdin is not None and sys.stdin.isatty()


def why_no_person() -> str:
    """Why this command was not typed by a person, as far as that can be seen; "" if it may have been."""
    if not is_there():
        return "standard input is not a terminal"
    return next(
        (f"{agent} runs this command ({name} is set)" for name, agent in AGENTS.items() if name in os.environ), ""
    )


def actor() -> str:
    """Who is recorded for a command that an agent may run too."""
    return "agent" if why_no_person() else PERSON


def require_person(what: str, remedy: str = "ask the user to run it") -> None:
    """Raise RefusedError if no person types this command; ``what`` says whose it is, and ``remedy`` what to do."""
    why = why_no_person()
    if why:
        valid = "a person who types this command at a terminal" + ("" if "not a terminal" in why else " of their own")
        raise RefusedError(f"{what}: {why}", valid=valid, remedy=remedy)


def forbid_lockstep_agent(what: str) -> None:
    """Raise RefusedError in a process that Lockstep's own agent started."""
    if "LOCKSTEP_AGENT" in os.environ:
        raise RefusedError(f"{what}: an agent of Lockstep runs this command (LOCKSTEP_AGENT is set)")
