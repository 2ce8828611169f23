"""The hook: one call per event of a host. It allows by saying nothing, and denies with exit 2 and a reason.

Hosts let a tool run when a hook fails in any other way (measured on four clients), so every fault while a run is open
ends in that one form too, with the way out; if no run is open a fault passes. It narrows what an agent does by habit or
mistake: it is no sandbox.
"""

from __future__ import annotations

import os
import sys

from skills.lib import compact_json, paths, status_files
from skills.lib.errors import LockstepError
from skills.lib.hosts.hook import sessions, tools
from skills.lib.hosts.hook.event import Event, text_of
from skills.lib.hosts.hook.shell_commands import answers_for_a_person, is_lifeline, is_own, script_named, value_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType
    from typing import Any

    from skills.lib.hosts.hook.sessions import Followed, Status

ALLOWED, DENIED = 0, 2
# How often a stop is refused while the run has not moved.
STOPS = 3


class Denied(Exception):
    """Carries the reason of a denial."""


def main(raw: bytes, options: Mapping[str, str], watched: dict[str, bool]) -> int:
    """Serve one event, given as JSON, and return the exit code.

    ``options`` are ``--host`` and ``--stops``; ``watched["open"]`` is set for the thread that watches the clock: true
    if the event is to be blocked when no answer comes in time.
    """
    known = sessions.names()
    if not known and b"--run" not in raw and b"lockstep_" not in raw:
        return ALLOWED
    event: Event | None = None
    output, sys.stdout = sys.stdout, sys.stderr  # what a skill's module prints is not part of the answer
    try:
        payload = compact_json.loads(raw.decode())
        if not isinstance(payload, dict):
            raise ValueError("the event is not a JSON object")
        event = Event(options.get("--host", "claude"), payload)
        if not event.session or not event.kind:  # nothing can be said of a session without a name
            return ALLOWED
        watched["open"] = _is_held_up(event, known)
        stops = options.get("--stops", "")
        return _serve(event, known, int(stops) if stops.isascii() and stops.isdigit() else STOPS, watched)
    except Denied as denied:
        return _deny(str(denied))
    except Exception as error:
        return _fault(error, event, watched["open"] if event else _is_open_here(known))
    finally:
        sys.stdout = output


def _serve(event: Event, known: Sequence[str], stops: int, watched: dict[str, bool]) -> int:
    is_known = event.own in known
    match event.kind:
        case "tool":
            _check_tool(event, known, watched)
        case "end":
            _end(event, known)
        case "stop":
            _check_stop(event, known, stops)
        # Qwen Code keeps what is said at a session's start in its system prompt for good, and Gemini CLI shows it with
        # the next turn, which is reminded anyway: in both the turn says it.
        case "compact" | "begin" if is_known and (event.kind == "compact" or event.host in ("qwen", "gemini")):
            session = sessions.read(event.own)
            if session is not None:
                sessions.write(event.own, {**session, "shown": None})
        case _ if is_known:
            _remind(event)
    return ALLOWED


def _check_tool(event: Event, known: Sequence[str], watched: dict[str, bool]) -> None:
    """Raise Denied if the current step does not allow the call."""
    own = _bound(event, known, watched)
    for name in dict.fromkeys((event.own, event.main)):
        session = own if name == event.own else sessions.read(name) if name in known else None
        if session is None:
            continue
        if any(is_own(event.words, followed["script"], event.folder) for followed in session["runs"]):
            return
        if answers_for_a_person(event.command):
            asks = _held(name, session, waits=True)
            if asks is not None:
                raise Denied(_denials().answering(asks))
        held = _held(name, session)
        if held is None:
            continue
        if is_lifeline(event.words, event.folder) or _allows(held, event):
            return
        held = _held(name, session, by_ledger=True)
        if held is None:
            continue
        if not (_allows(held, event) or is_own(event.words, held["script"], event.folder)):
            raise Denied(_denials().denial(held, event.host, event.tool))
        return


def _allows(held: Status, event: Event) -> bool:
    return tools.allows(held["tools"], event.host, event.tool, event.given)


def _bound(event: Event, known: Sequence[str], watched: dict[str, bool]) -> dict[str, Any] | None:
    """The session of the event's agent. From now on it follows the run that its call names, if there is such a run."""
    session, damage = None, None
    try:
        session = sessions.read(event.own) if event.own in known else None
    except ValueError as error:
        damage = error
    run, project = _named(event)
    if run and session and sessions.key(session["runs"][-1]) == (run, project):
        _confirm(event.own, session)
    elif run:
        # A sub-agent's run has no status file before its first command, and its parent's has one.
        status = status_files.read(project, run) or status_files.read(project, run.rpartition(".")[0])
        script = _script_of(event, status) if status is not None else ""
        if script:
            watched["open"] = True
            seen = sessions.stamp(project, run)
            followed: Followed = {"run": run, "project": project, "script": script, "seen": seen}
            return sessions.bind(event.own, session, followed)
    if damage is not None:
        raise damage
    return session


def _named(event: Event) -> tuple[str, str]:
    """The run that a call names, and its project: ``--run`` of a command, or ``run`` of a tool of ours."""
    if tools.is_ours(event.tool):
        run, project = text_of(event.given, "run"), text_of(event.given, "project")
    else:
        run = value_of("--run", event.command) if "--run" in event.command else ""
        project = value_of("--project", event.command) if run else ""
    if not status_files.is_id(run):
        return "", ""
    named = os.path.join(event.folder, project) if project else ""
    return run, os.path.realpath(named) if os.path.isdir(named) else paths.project_root(event.folder)


def _script_of(event: Event, status: Status) -> str:
    """The script of the run that a call names: a tool of ours names none, and a command must name it beside the run."""
    if tools.is_ours(event.tool):
        return str(status["script"])
    return script_named(event.command, status["script"], event.folder)


def _confirm(name: str, session: dict[str, Any]) -> None:
    """Remember that the skill of the run that was named last has been run since, if that was not known yet."""
    last: Followed = session["runs"][-1]
    if last.get("seen") != sessions.RAN and sessions.has_run(last):
        last["seen"] = sessions.RAN
        sessions.keep(name, session, session["runs"])


def _held(
    name: str, session: dict[str, Any], by_ledger: bool = False, waits: bool = False, but: Sequence[Followed] = ()
) -> Status | None:
    """The status of the run that holds the agent: of those that it follows, the last named that is open and begun.

    It is read from the status file, and from the ledger if there is none or with ``by_ledger``. Runs that have ended
    are forgotten. With ``waits`` a run that has not begun counts too, for it may wait for a person; ``but`` are left
    out.
    """
    held, over = None, []
    for followed in reversed(session["runs"]):
        if followed in but:
            continue
        status = None if by_ledger else status_files.read(followed["project"], followed["run"])
        if status is None:
            from skills.lib.hosts.hook import run_status  # most events need no ledger

            status = run_status.refreshed(followed)
        if status is None:
            if not sessions.has_lost_ledger(followed):  # the agent is reminded of that before it is forgotten
                over.append(followed)
        elif waits or _is_begun(status):
            held = {**status, "run": followed["run"], "project": followed["project"]}
            break
    if over:
        session["runs"] = [one for one in session["runs"] if one not in over]
        sessions.keep(name, session, session["runs"])
    return held


def _denials() -> ModuleType:
    """The texts of denials, which most events do not need."""
    from skills.lib.hosts.hook import denials

    return denials


def _is_begun(status: Status) -> bool:
    """True if the run holds anybody: one that never left its first step does not; a sub-agent's does."""
    return status["status"] != "pending" and (bool(status["parent"]) or status["turn"] > 1)


def _check_stop(event: Event, known: Sequence[str], stops: int) -> None:
    """Raise Denied while the followed run is in the middle, so many times; never while it waits for a person."""
    if event.own not in known or (event.name == "SubagentStop" and not event.agent) or event.waits:
        return
    session = sessions.read(event.own)
    if session is None:
        return
    held = _held(event.own, session, by_ledger=True, but=_looked_at(event, known, session))
    if held is None or held["status"] != "open":
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
        _held(event.main, session)


def _remind(event: Event) -> None:
    """Print the current block: after a compaction or a resumption always, at a turn if it is another one.

    Gemini CLI reports no compaction (its PreCompress comes before each request), so there every turn may follow one.
    """
    session = sessions.read(event.own)
    held = _held(event.own, session) if session else None
    if session is None:
        return
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
        status = _held(event.own, session, by_ledger=True)
    except LockstepError:
        status = run_status.trusted(held, _followed(session, held))
    if status is None:
        return
    followed = _followed(session, status)
    if sessions.has_run(followed):
        followed["seen"] = sessions.RAN
    _say(event, _denials().reminder(status, run_status.may_load(followed, status["script"])))
    sessions.write(event.own, {**session, "shown": [status["run"], status["turn"]]})


def _say(event: Event, text: str) -> None:
    """Give a text to the agent."""
    said = {"hookEventName": event.name, "additionalContext": text}
    _write(1, compact_json.dumps({"hookSpecificOutput": said}) + "\n")


def _followed(session: dict[str, Any], held: Status) -> Followed:
    """What the session keeps of the run that holds it."""
    found: Followed = next(one for one in session["runs"] if sessions.key(one) == sessions.key(held))
    return found


def _fault(error: Exception, event: Event | None, is_open: bool) -> int:
    """Block a tool or a first stop while a run is open, naming the way out; let everything else pass."""
    denials = _denials()
    if is_open and event is not None and is_lifeline(event.words, event.folder):
        return ALLOWED
    if is_open:
        return _deny(denials.blocked(error, event.main if event else ""))
    if event is None or event.kind != "end":  # a host takes whatever is said at a session's end for a failure
        _write(2, denials.printable(denials.fault(error)) + " Nothing is held up by that.\n")
    return ALLOWED


def _is_held_up(event: Event, known: Sequence[str]) -> bool:
    """True if the event is blocked when the hook fails: a tool or a first stop, and the session follows a run."""
    if event.kind == "stop":
        return event.own in known and not event.again
    return event.kind == "tool" and (event.own in known or event.main in known)


def _is_open_here(known: Sequence[str]) -> bool:
    """True if some session follows a run of the project in the working directory; a file in doubt counts."""
    try:
        project, found = paths.project_root(), [sessions.read(name) for name in known]
    except (OSError, ValueError):
        return bool(known)
    return any(one["project"] == project for session in found if session for one in session["runs"])


def _deny(reason: str) -> int:
    denials = _denials()
    _write(2, denials.printable(reason.strip()[: denials.LONGEST]) + "\n")
    return DENIED


def _write(file: int, text: str) -> None:
    """Write to an output of the process; if it is closed, the exit code still says what is to be done."""
    data = text.encode("utf-8", "replace")
    try:
        while data:
            data = data[os.write(file, data) :]
    except OSError:
        return
