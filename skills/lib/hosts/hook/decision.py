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
from skills.lib.hosts.hook.shell_commands import (
    acts_for_a_person,
    is_lockstep,
    is_own,
    is_python,
    is_shipped,
    lifeline,
    script_named,
    scripts_of,
    sets_variables,
    value_of,
)

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
    """Raise Denied if a run that the agent follows does not allow the call.

    The agent follows the run that the call names from now on; if nothing shows that its skill ran on this machine, only
    if the call is allowed.
    """
    if sets_variables(event.command, event.folder):
        raise Denied(_denials().VARIABLES)
    own, damage = None, None
    try:
        own = sessions.read(event.own) if event.own in known else None
    except ValueError as error:
        damage = error
    named = _named(event, own)
    watched["open"] = watched["open"] or named is not None
    if damage is not None and (named is None or not _is_own(event, [named])):
        raise damage
    if named is not None and named.get("signed"):
        own = _followed_first(event.own, own, named)
    _check_runs(event, known, own, watched)
    if named is not None:
        _followed_first(event.own, own, named)


def _check_runs(event: Event, known: Sequence[str], own: dict[str, Any] | None, watched: dict[str, bool]) -> None:
    """Raise Denied if a run that holds the agent does not allow the call; if none of its own does, the main agent's."""
    for name in dict.fromkeys((event.own, event.main)):
        session = own if name == event.own else sessions.read(name) if name in known else None
        if session is None:
            continue
        runs: list[Followed] = session["runs"]
        if _is_own(event, runs):
            return
        statuses = _statuses(name, session)
        if statuses and acts_for_a_person(event.command):
            raise Denied(_denials().answering(statuses[0]))
        if statuses and _is_lifeline(event, runs):
            if "abandon" in event.words:
                _note_abandon(event, name, session)
            return
        held = [_is_held_by(status, name, session, event, watched) for status in _holding(statuses)]
        if any(held):
            return


def _is_held_by(status: Status, name: str, session: dict[str, Any], event: Event, watched: dict[str, bool]) -> bool:
    """True if a run holds the agent. Raises Denied if it does, and does not allow the call.

    The ledger is read before a call is denied. If it cannot be, a run that the agent has given up holds nobody.
    """
    followed = _followed(session, status)
    if _allows(status, event) and not _protected(followed, event):
        return True
    is_open = watched["open"]
    watched["open"] = is_open and not followed.get("given_up")
    try:
        found = _by_ledger(followed)
    finally:
        watched["open"] = is_open
    if found is None:
        _forget(name, session, [followed])
        return False
    held = {**found, "run": followed["run"], "project": followed["project"]}
    if not _holding([held]):
        return False
    if not (_allows(held, event) or _is_own(event, [{**followed, "script": held["script"]}])):
        raise Denied(_denials().denial(held, event.host, event.tool))
    protected = _protected(followed, event)
    if protected:
        raise Denied(_denials().protected(held, event.tool, protected))
    return True


def _allows(held: Status, event: Event) -> bool:
    return tools.allows(held["tools"], event.host, event.tool, event.given)


def _protected(followed: Followed, event: Event) -> str:
    """What a call would change that no agent may change while that run holds it; "" if nothing."""
    if not event.targets:
        return ""
    from skills.lib.hosts.hook import protected  # most events change no file

    return protected.what(event.targets, event.folder, followed)


def _is_own(event: Event, runs: Sequence[Followed]) -> bool:
    """True if a call is one simple command of the script of one of these runs, by a Python that is known."""
    own = [one for one in runs if is_own(event.words, one["script"], event.folder)]
    return bool(own) and is_python(event.words[0], event.folder, lambda: _pythons(own))


def _pythons(runs: Sequence[Followed]) -> list[str]:
    """The Pythons that the commands of these runs were printed with."""
    statuses = [(one, status_files.read_nearest(one["project"], one["run"])) for one in runs]
    signed = [status for one, status in statuses if status and _is_signed(one, status)]
    return [status["python"] for status in signed]


def _is_signed(followed: Followed, status: Status) -> bool:
    """True if a skill that this user ran wrote the status of a run, or of the run that it is a sub-agent's of."""
    is_its = status["run"] in (followed["run"], followed["run"].rpartition(".")[0])
    return is_its and status_files.is_signed(followed["project"], status["run"], status)


def _is_lifeline(event: Event, runs: Sequence[Followed] = ()) -> bool:
    """True if a call is a lockstep command that is always allowed, and runs nothing that only the project names."""
    words = lifeline(event.words)
    if not words or not is_lockstep(event.words, event.folder, lambda: _pythons(runs)):
        return False
    if words[0] != "resume":
        return True
    run = next((word for word in words[1:] if status_files.is_id(word)), "")
    project = _project(event, value_of("--project", event.command))
    status = status_files.read(project, run)
    return status is not None and status_files.is_signed(project, run, status)


def _note_abandon(event: Event, name: str, session: dict[str, Any]) -> None:
    """Remember that the agent gives up a run: if its ledger cannot be used, it holds nobody any more.

    A run that is given up twice and still open is forgotten: its ledger can be read and not written.
    """
    project = _project(event, value_of("--project", event.command))
    runs: list[Followed] = []
    for one in session["runs"]:
        is_given_up = one["run"] in event.words and one["project"] == project
        if not is_given_up:
            runs.append(one)
        elif not one.get("given_up"):
            given_up = one.copy()
            given_up["given_up"] = True
            runs.append(given_up)
    if runs != session["runs"]:
        session["runs"] = runs
        sessions.keep(name, session, runs)


def _named(event: Event, session: dict[str, Any] | None) -> Followed | None:
    """The run that a call names, by ``--run`` of a command of its skill or ``run`` of a tool of ours.

    It is signed if a skill that this user ran wrote its status file, or if the skill is Lockstep's. A sub-agent's run
    has no status file before its first command, and its parent's has one.
    """
    if tools.is_ours(event.tool):
        run, project = text_of(event.given, "run"), text_of(event.given, "project")
    else:
        run = value_of("--run", event.command) if "--run" in event.command else ""
        project = value_of("--project", event.command) if run else ""
    if not status_files.is_id(run):
        return None
    project = _project(event, project)
    status = status_files.read_nearest(project, run)
    if status is None:
        return None
    given = str(status["script"])
    script = given if tools.is_ours(event.tool) else script_named(event.command, given, event.folder)
    if not script:
        return None
    followed: Followed = {"run": run, "project": project, "script": script}
    last: Followed | None = session["runs"][-1] if session else None
    if last and last.get("signed") and (last["run"], last["project"], last["script"]) == (run, project, script):
        return last
    called, told = os.path.realpath(script), os.path.realpath(given)
    is_beside = "." in run and scripts_of(told) == scripts_of(called) != ""
    if (called == told or is_beside) and (is_shipped(called) or _is_signed(followed, status)):
        followed["signed"] = True
    return followed


def _project(event: Event, given: str) -> str:
    """The project of a call: the folder that it names, or that the working directory is in."""
    named = os.path.join(event.folder, given) if given else ""
    return os.path.realpath(named) if os.path.isdir(named) else paths.project_root(event.folder)


def _followed_first(name: str, session: dict[str, Any] | None, named: Followed) -> dict[str, Any]:
    """The session of an agent that follows a run before all others; it is written if that, or more of it, is new."""
    last: Followed | None = session["runs"][-1] if session else None
    is_known = last is not None and sessions.key(last) == sessions.key(named)
    if session is not None and is_known and (last == named or not named.get("signed")):
        return session
    return sessions.bind(name, session, named)


def _statuses(
    name: str, session: dict[str, Any], by_ledger: bool = False, but: Sequence[Followed] = ()
) -> list[Status]:
    """The statuses of the open runs that an agent follows, the last named first; ``but`` are left out.

    They are read from the status files, and from the ledger if there is none or with ``by_ledger``. Runs that have
    ended are forgotten.
    """
    found, over = [], []
    for followed in reversed(session["runs"]):
        if followed in but:
            continue
        status = None if by_ledger else status_files.read(followed["project"], followed["run"])
        if status is None:
            status = _by_ledger(followed)
        else:
            status.pop("is_paused", None)
        if status is not None:
            found.append({**status, "run": followed["run"], "project": followed["project"]})
        else:
            over.append(followed)
    _forget(name, session, over)
    return found


def _forget(name: str, session: dict[str, Any], over: Sequence[Followed]) -> None:
    """Let an agent follow these runs no more; of one whose ledger was removed it is reminded before."""
    kept = [one for one in session["runs"] if one not in over or sessions.has_lost_ledger(one)]
    if kept != session["runs"]:
        session["runs"] = kept
        sessions.keep(name, session, kept)


def _by_ledger(followed: Followed) -> Status | None:
    """The status of a run by the ledger; None if it has ended, or was given up and the ledger cannot be used."""
    from skills.lib.hosts.hook import run_status  # most events need no ledger

    try:
        return run_status.refreshed(followed)
    except LockstepError:
        if followed.get("given_up"):
            return None
        raise


def _holding(statuses: Sequence[Status]) -> list[Status]:
    """The runs that hold an agent: begun, not paused, and not waiting for a sub-agent's run that it follows too."""
    begun = [status for status in statuses if _is_begun(status) and not status.get("is_paused")]
    return [
        status
        for status in begun
        if not any(one["run"].startswith(status["run"] + ".") and one["project"] == status["project"] for one in begun)
    ]


def _held(name: str, session: dict[str, Any], by_ledger: bool = False, but: Sequence[Followed] = ()) -> Status | None:
    """The status of the run that holds an agent; of several the one that it named last. See ``_statuses``."""
    return next(iter(_holding(_statuses(name, session, by_ledger, but))), None)


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
    if status["is_trusted"] and os.path.realpath(status["script"]) == os.path.realpath(followed["script"]):
        followed["signed"] = True
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
    if is_open and event is not None and _is_lifeline(event):
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
