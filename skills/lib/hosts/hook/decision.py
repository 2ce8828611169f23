"""The hook: one call per event of a host. It allows by saying nothing, and denies with exit 2 and a reason.

Hosts let a tool run when a hook fails in any other way (measured on four clients), so every fault while a run is open
ends in that one form too, with the way out; if no run is open a fault passes. It narrows what an agent does by habit or
mistake: it is no sandbox.
"""

from __future__ import annotations

import os
import sys

from skills.lib import compact_json, paths, status_files
from skills.lib.hosts.hook import sessions, tools
from skills.lib.hosts.hook.event import Denied, Event, printable, say_why, text_of, write
from skills.lib.hosts.hook.shell_commands import (
    acts_for_a_person,
    calls_hook,
    is_lockstep,
    is_own,
    is_python,
    is_shipped,
    launched,
    lifeline,
    script_named,
    scripts_of,
    sets_variables,
    starts_phase,
    value_of,
    without_launcher,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import ModuleType
    from typing import Any

    from skills.lib.hosts.hook.followed import Followed, Status

ALLOWED, DENIED = 0, 2
# How often a stop is refused while the run has not moved.
STOPS = 3


def main(raw: bytes, options: Mapping[str, str], watched: dict[str, bool]) -> int:
    """Serve one event, given as JSON, and return the exit code.

    ``options`` are ``--host`` and ``--stops``; ``watched["open"]`` is set for the thread that watches the clock: true
    if the event is to be blocked when no answer comes in time. ``watched["policy"]`` says that a policy may hold,
    ``watched["unread"]`` that it does if the event cannot be read.
    """
    known = sessions.names()
    event: Event | None = None
    output, sys.stdout = sys.stdout, sys.stderr  # what a skill's module prints is not part of the answer
    try:
        payload = compact_json.loads(raw.decode())
        if not isinstance(payload, dict):
            raise ValueError("the event is not a JSON object")
        event = Event(options.get("--host", "claude"), payload)
        if not event.session or not event.kind:  # no run is of a session without a name; policies hold for all
            if event.kind == "tool":
                _check_policies(event, (), [], watched)
            elif event.kind == "result":
                _learn(event, ())
            return ALLOWED
        watched["open"] = _is_held_up(event, known)
        stops = options.get("--stops", "")
        return _serve(event, known, int(stops) if stops.isascii() and stops.isdigit() else STOPS, watched)
    except Denied as denied:
        say_why(denied)
        return DENIED
    except Exception as error:
        is_open = watched["open"] if event else watched.get("unread") or _is_open_here(known)
        return _fault(error, event, bool(is_open))
    finally:
        sys.stdout = output


def _serve(event: Event, known: Sequence[str], stops: int, watched: dict[str, bool]) -> int:
    is_known = event.own in known
    match event.kind:
        case "tool":
            _check_tool(event, known, watched)
        case "result":
            _learn(event, _with_opened(event, known))
        case "turn" if watched.get("policy") and _hear(event, known) and not is_known:
            return ALLOWED
        case "end" | "stop":
            _turns().finish(event, known, stops)
        # Qwen Code keeps what is said at a session's start in its system prompt for good, and Gemini CLI shows it with
        # the next turn, which is reminded anyway: in both the turn says it.
        case "compact" | "begin" if is_known and (event.kind == "compact" or event.host in ("qwen", "gemini")):
            session = sessions.read(event.own)
            if session is not None:
                sessions.write(event.own, {**session, "shown": None})
        case _ if is_known:
            _turns().remind(event)
    return ALLOWED


def _check_tool(event: Event, known: Sequence[str], watched: dict[str, bool]) -> None:
    """Raise Denied if a run that the agent follows does not allow the call.

    The agent follows the run that the call names from now on; if nothing shows that its skill ran on this machine, only
    if the call is allowed.
    """
    if sets_variables(event.line, event.folder):
        raise Denied(_denials().VARIABLES)
    _require_launcher(event)
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
    followed: list[Status] = []
    if not _check_runs(event, known, own, watched, followed):
        _check_policies(event, known, followed, watched)
    if named is None and _may_open(event):
        _openings().mark(event)
    if named is not None:
        _followed_first(event.own, own, named)


def _require_launcher(event: Event) -> None:
    """Raise Denied for a call of the launcher if it is missing: a shell would say only that there is no such file."""
    run = without_launcher(event.command)
    denied = _denials().no_launcher(run) if run else ""
    if denied:
        raise Denied(denied)


def _with_opened(event: Event, known: Sequence[str]) -> Sequence[str]:
    """Have the agent follow the run that a call has opened, and return the names of the session files."""
    run = _openings().take(event) if _may_open(event) else ""
    project = value_of("--project", event.command) or text_of(event.given, "project")
    named = _named_by(event, run, project, None, is_opening=True)
    status = status_files.read(named["project"], run) if named is not None and named.get("signed") else None
    if named is None or status is None or sessions.is_in_the_middle(status):
        return known
    named["opened"] = True
    sessions.bind(event.own, sessions.read(event.own) if event.own in known else None, named)
    return sessions.names()


def _may_open(event: Event) -> bool:
    return "--step" in event.command or tools.is_ours(event.tool) or starts_phase(event.command)


def _check_policies(event: Event, known: Sequence[str], statuses: list[Status], watched: dict[str, bool]) -> None:
    """Raise Denied if a policy that holds for the call does not allow it; ``statuses`` are of the runs it follows."""
    if event.agent:  # the policy of the main agent's run holds for its sub-agents as well
        statuses = [*statuses, *_statuses(event.main, known)]
    may_hold = watched.get("policy") or event.folder != (event.cwd or os.getcwd())
    may_hold = may_hold or any(status.get("policy") or status.get("layers") for status in statuses)
    if not may_hold or _is_lifeline(event):
        return
    from skills.lib.hosts.hook import guarding  # most projects have no policy

    guarding.check(event, statuses, watched)


def _learn(event: Event, known: Sequence[str]) -> None:
    """Have the facts of the policies that hold for a call learn from its result."""
    from skills.lib.hosts.hook import learning

    learning.learn(event, [status for name in {event.own, event.main} for status in _statuses(name, known)])


def _hear(event: Event, known: Sequence[str]) -> bool:
    """Have the policies that hold hear what the user says. True."""
    from skills.lib.hosts.hook import learning

    if not _turns().is_notice(event):
        learning.hear(event, _statuses(event.main, known))
    return True


def _statuses(name: str, known: Sequence[str]) -> list[Status]:
    """The statuses of the runs that an agent follows."""
    session = sessions.read(name) if name in known else None
    return sessions.statuses(name, session) if session else []


def _check_runs(
    event: Event,
    known: Sequence[str],
    own: dict[str, Any] | None,
    watched: dict[str, bool],
    followed: list[Status],
) -> bool:
    """True if a call is always allowed: a run's own command, or one that frees it.

    Raises Denied if a run that holds the agent does not allow the call; if none of its own does, the main agent's.
    ``followed`` gets the statuses of the runs.
    """
    for name in dict.fromkeys((event.own, event.main)):
        session = own if name == event.own else sessions.read(name) if name in known else None
        if session is None:
            continue
        runs: list[Followed] = session["runs"]
        if _is_own(event, runs):
            return True
        statuses = sessions.statuses(name, session)
        followed += statuses
        if statuses and acts_for_a_person(event.command):
            raise Denied(_denials().answering(statuses[0]))
        if statuses and calls_hook(event.command, event.folder):
            raise Denied(_denials().forging(statuses[0]))
        if statuses and _is_lifeline(event, runs):
            if "abandon" in event.words:
                _note_abandon(event, name, session)
            return True
        held = [_is_held_by(status, name, session, event, watched) for status in sessions.holding(statuses)]
        if any(held):
            break
    return False


def _is_held_by(status: Status, name: str, session: dict[str, Any], event: Event, watched: dict[str, bool]) -> bool:
    """True if a run holds the agent. Raises Denied if it does, and does not allow the call.

    The ledger is read before a call is denied. If it cannot be, a run that the agent has given up holds nobody.
    """
    followed = sessions.kept_of(session, status)
    if _allows(status, event) and not _protected(followed, event):
        return True
    is_open = watched["open"]
    watched["open"] = is_open and not followed.get("given_up")
    try:
        found = sessions.refreshed(followed)
    finally:
        watched["open"] = is_open
    if found is None:
        sessions.drop(name, session, [followed])
        return False
    held = sessions.status_of(followed, found)
    if not sessions.holding([held]):
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
    words = event.step_words or event.words
    own = [one for one in runs if is_own(words, one["script"], event.folder)]
    return bool(own) and is_python(words[0], event.folder, lambda: _pythons(own))


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
    """The run that a call names: behind the launcher, by ``--run`` of a command of its skill, or ``run`` of our tools.

    It is signed if a skill that this user ran wrote its status file, or if the skill is Lockstep's. A sub-agent's run
    has no status file before its first command, and its parent's has one.
    """
    short = _short(event)
    if tools.is_ours(event.tool):
        run, project = text_of(event.given, "run"), text_of(event.given, "project")
    elif short:
        run, project = short[short.index("--run") + 1], short[short.index("--project") + 1]
    else:
        run = value_of("--run", event.command) if "--run" in event.command else ""
        project = value_of("--project", event.command) if run else ""
    return _named_by(event, run, project, session)


def _named_by(
    event: Event, run: str, project: str, session: dict[str, Any] | None, is_opening: bool = False
) -> Followed | None:
    """The run of that id, if a call is one of its skill: see ``_named``; or one that opens the run of a phase."""
    if not status_files.is_id(run):
        return None
    project = _project(event, project)
    status = status_files.read_nearest(project, run)
    if status is None:
        return None
    given, short = str(status["script"]), _short(event)
    script = short[1] if short else script_named(event.command, given, event.folder)
    is_told = tools.is_ours(event.tool) or (is_opening and starts_phase(event.command))
    script = given if is_told else script
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


def _short(event: Event) -> list[str]:
    """The words of the long command for a call of the launcher, also for one that is only a part of a line."""
    return event.step_words or launched(event.command)


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


def _openings() -> ModuleType:
    """Which runs a session opens, which most calls do not."""
    from skills.lib.hosts.hook import openings

    return openings


def _turns() -> ModuleType:
    """What happens between the turns of an agent, which the use of a tool does without."""
    from skills.lib.hosts.hook import turns

    return turns


def _denials() -> ModuleType:
    """The texts of denials, which most events do not need."""
    from skills.lib.hosts.hook import denials

    return denials


def _fault(error: Exception, event: Event | None, is_open: bool) -> int:
    """Block a tool or a first stop while a run is open, naming the way out; let everything else pass."""
    denials = _denials()
    if is_open and event is not None and _is_lifeline(event):
        return ALLOWED
    if is_open:
        say_why(Denied(denials.blocked(error, event.main if event else "")))
        return DENIED
    if event is None or event.kind != "end":  # a host takes whatever is said at a session's end for a failure
        write(2, printable(denials.fault(error)) + " Nothing is held up by that.\n")
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
