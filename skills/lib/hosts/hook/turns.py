"""The end of an agent's turn, and the beginning of one: a stop in the middle is refused, the step is shown again."""

from __future__ import annotations

import os

from skills.lib import compact_json, terminal
from skills.lib.errors import LockstepError
from skills.lib.hosts.hook import sessions
from skills.lib.hosts.hook.event import Denied, Event, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any

    from skills.lib.hosts.hook.followed import Followed

# The variable that a host may set for its own hooks as well.
_OWN = {
    "codex": "CODEX_THREAD_ID",
    "opencode": "OPENCODE",
    "qwen": "QWEN_CODE",
    "gemini": "GEMINI_CLI",
    "claude": "CLAUDECODE",
}
# What Claude Code has in CLAUDE_CODE_ENTRYPOINT if a person types: at a terminal, in an editor, in its own window.
_OF_PERSONS = ("cli", "claude-vscode", "claude-desktop")
# What Codex writes into the file of a session that a person began: at a terminal, in an editor or its own window.
_OF_TERMINALS = (b'"source":"cli"', b'"source":"vscode"')
# How many bytes are read of the line with which Codex begins the file of a session.
_META = 100_000


def finish(event: Event, known: Sequence[str], stops: int) -> None:
    """Serve the end of a turn, which Denied refuses, or of a session."""
    if event.kind == "stop":
        _check_stop(event, known, stops)
    else:
        _end(event, known)


def _check_stop(event: Event, known: Sequence[str], stops: int) -> None:
    """Raise Denied while a run that the agent follows is in the middle, so many times at one turn of the run.

    A run that waits for a person, or for a sub-agent's run that the agent follows too, may wait longer.
    """
    if event.own not in known or (event.name == "SubagentStop" and not event.agent) or event.waits:
        return
    session = sessions.read(event.own)
    if session is None:
        return
    found = sessions.statuses(event.own, session, by_ledger=True, but=_looked_at(event, known, session))
    middle = [one for one in found if sessions.is_in_the_middle(one)]
    held = next((status for status in sessions.holding(middle) if status["status"] == "open"), None)
    if held is None:
        return
    at = [held["run"], held["turn"]]
    before = session.get("stops")
    count = before[2] if isinstance(before, list) and before[:2] == at else 0
    if count < stops:
        sessions.write(event.own, {**session, "stops": [*at, count + 1]})
        raise Denied(_denials().not_yet(held))


def _looked_at(event: Event, known: Sequence[str], session: dict[str, Any]) -> list[Followed]:
    """The runs that a sub-agent named and that are the main agent's to finish.

    A run that one of those began for a sub-agent is not among them, whoever looked at it.
    """
    main = sessions.read(event.main) if event.agent and event.main in known else None
    mains = [sessions.key(one) for one in main["runs"]] if main else []
    return [
        one
        for one in session["runs"]
        if sessions.key(one) in mains and (one["run"].rpartition(".")[0], one["project"]) not in mains
    ]


def _end(event: Event, known: Sequence[str]) -> None:
    """Forget the session's sub-agents; what its main agent follows stays, for the session may be resumed."""
    for name in known:
        if name.startswith(event.main + "."):
            sessions.forget(name)
    session = sessions.read(event.main) if event.main in known else None
    if session is not None:
        sessions.held(event.main, session)


def remind(event: Event) -> None:
    """Print the current block: after a compaction or a resumption always, at a turn if it is another one.

    Gemini CLI reports no compaction (its PreCompress comes before each request), so there every turn may follow one.
    """
    session = sessions.read(event.own)
    if session is None:
        return
    _keep_prompt(event, session["runs"])
    found = sessions.statuses(event.own, session)
    held = next(iter(sessions.holding(found)), None)
    if held is None:
        lost = [one for one in session["runs"] if sessions.has_lost_ledger(one)]
        if lost:  # said once
            sessions.keep(event.own, session, [one for one in session["runs"] if one not in lost])
            _say(event, _denials().lost(lost))
        return
    at = [held["run"], held["turn"]]
    # A compaction leaves None; without one, what a command printed since the last turn is still there.
    if event.between and session.get("shown", at) is not None:
        return
    if event.kind == "turn" and session.get("shown") == at and event.host != "gemini":
        return
    from skills.lib.hosts.hook import run_status  # most events need no ledger

    try:  # a status file may be made up
        status = sessions.held(event.own, session, by_ledger=True)
    except LockstepError:
        written = {name: value for name, value in held.items() if name != "has_opened"}  # what is signed
        status = run_status.trusted(written, sessions.kept_of(session, held))
    if status is None:
        return
    followed = sessions.kept_of(session, status)
    if status["is_trusted"] and os.path.realpath(status["script"]) == os.path.realpath(followed["script"]):
        followed["signed"] = True
    _say(event, _denials().reminder(status, run_status.may_load(followed, status["script"])))
    sessions.write(event.own, {**session, "shown": [status["run"], status["turn"]]})


def _keep_prompt(event: Event, runs: Sequence[Followed]) -> None:
    """Keep what the person says for each run that waits for an answer; an answer that has it is theirs.

    If the ledger cannot say whether a run waits, what was said before is forgotten: this prompt may take it back.
    """
    if event.kind != "turn" or is_notice(event) or _is_headless(event):
        return
    from skills.lib import user_prompts  # a turn between two tools has no prompt
    from skills.lib.hosts.hook import run_status

    for one in runs:
        try:
            turn = run_status.question_turn(one)
        except LockstepError:
            user_prompts.remove(one["project"], one["run"])
            continue
        if turn is not None:
            user_prompts.keep(one["project"], one["run"], turn, event.prompt)


def is_notice(event: Event) -> bool:
    """True if a prompt is not of the user: a sub-agent's, or a notice that a host puts in the user's place.

    Such a notice is in tags, or is the reason why a stop was refused.
    """
    if event.agent or not event.prompt.strip():
        return True
    return event.prompt.lstrip().startswith("<") or _denials().NOT_AT_ITS_END in event.prompt


def _is_headless(event: Event) -> bool:
    """True unless a person wrote the prompt, as far as the host says so.

    Claude Code says it in its environment, Codex in a file: what is not known here, or not there, is no person's word.
    opencode's plugin sends no prompt of ``opencode run``; Qwen Code and Gemini CLI say nothing of it. Another agent may
    have started the host.
    """
    if any(name in os.environ for name in terminal.AGENTS if name != _OWN.get(event.host)):
        return True
    if event.host == "claude":
        return os.environ.get("CLAUDE_CODE_ENTRYPOINT", "") not in _OF_PERSONS
    if event.host != "codex":
        return False
    try:
        with open(event.transcript, "rb") as file:
            begin = file.readline(_META)
    except (OSError, ValueError):
        return True
    return not any(source in begin for source in _OF_TERMINALS) or b'"originator":"codex_exec"' in begin


def _denials() -> ModuleType:
    """The texts of the hook, which most turns do not need."""
    from skills.lib.hosts.hook import denials

    return denials


def _say(event: Event, text: str) -> None:
    """Give a text to the agent."""
    said = {"hookEventName": event.name, "additionalContext": text}
    write(1, compact_json.dumps({"hookSpecificOutput": said}) + "\n")
