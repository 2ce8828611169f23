"""Which runs an agent of a host's session follows: one small file per agent, in the user's state folder.

Each agent has a file of its own, so that sub-agents that begin at the same moment never write the same one.
"""

from __future__ import annotations

import os
import time

from skills.lib import compact_json, files, paths, status_files
from skills.lib.errors import EnvironmentProblem, LockstepError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.hosts.hook.followed import Followed, Status


# A session that has not been heard of for so long (seconds) is forgotten when another one is bound.
FORGOTTEN = 30 * 24 * 3600
# The most runs that an agent follows; the last is the one that it named last.
FOLLOWED = 8


def folder() -> str:
    """The folder of the session files, in the folder of what Lockstep keeps for a user."""
    return os.path.join(paths.state(), "sessions")


def path_of(name: str) -> str:
    """The path of the session file of that name."""
    return os.path.join(folder(), name)


def names(unfinished: bool = False) -> list[str]:
    """The names of the session files; with ``unfinished`` of those that a writer left, or is at work on."""
    try:
        return [name for name in os.listdir(folder()) if name.endswith(files.PART) == unfinished]
    except OSError:
        return []


def host_of(name: str) -> str:
    """The host of a session file."""
    return name.partition("-")[0].partition("~")[0]


def read(name: str) -> dict[str, Any] | None:
    """A session file; None if there is none. Raises ValueError if it is damaged, OSError if it cannot be read."""
    try:
        with open(path_of(name), "rb") as file:
            text = file.read()
    except FileNotFoundError:
        return None
    try:
        found = compact_json.loads(text.decode())
    except ValueError:
        found = None
    if not isinstance(found, dict) or not _are_runs(found.get("runs")):
        raise ValueError(f"the session file {path_of(name)} is damaged")
    return found


def write(name: str, session: dict[str, Any]) -> None:
    """Replace a session file. Raises EnvironmentProblem if it cannot be written."""
    try:
        files.write(path_of(name), compact_json.dumps(session).encode())
    except OSError as error:
        raise EnvironmentProblem(
            f"the session file {path_of(name)} cannot be written: {error.strerror}",
            remedy="make room on the disk, or set LOCKSTEP_STATE to a folder that can be written",
        ) from error


def forget(name: str) -> None:
    """Remove a session file."""
    files.remove(path_of(name))


def has_lost_ledger(followed: Followed) -> bool:
    """True if the project of a run is there, and no ledger in it; a run is only followed if there was one.

    A shared ledger is not asked: that takes a connection.
    """
    if os.environ.get("LOCKSTEP_LEDGER_URL"):
        return False
    home = paths.home(followed["project"])
    is_there = any(os.path.lexists(os.path.join(home, name)) for name in ("runs.db", "LEDGER"))
    return not is_there and os.path.isdir(followed["project"])


def key(one: Followed | Mapping[str, Any]) -> tuple[str, str]:
    """The id and the project of a run that is followed, or that a status file is of."""
    return one["run"], one["project"]


def keep(name: str, session: dict[str, Any], runs: list[Followed]) -> None:
    """Let an agent follow only these of its runs; its file is removed if there is none.

    Does nothing if that cannot be written: a run that has ended holds nobody in any case.
    """
    try:
        if runs:
            write(name, {**session, "runs": runs})
        else:
            forget(name)
    except EnvironmentProblem:
        return


def bind(name: str, session: dict[str, Any] | None, followed: Followed) -> dict[str, Any]:
    """Let an agent follow a run before all others, and return its session; the run then belongs to no other session."""
    before = (session or {"runs": []})["runs"]
    known = next((one for one in before if key(one) == key(followed)), followed)
    followed = {**known, **followed} if followed.get("signed") or followed.get("opened") else known
    runs = [one for one in before if key(one) != key(followed)]
    session = {**(session or {}), "runs": [*runs, followed][-FOLLOWED:]}
    from skills.lib import user_key  # a session is bound once

    user_key.make()
    write(name, session)
    stem = name.partition(".")[0]
    for other in [*names(), *names(unfinished=True)]:
        if other.partition(".")[0] != stem:
            _release(other, followed)
    return session


def free(run: str, project: str) -> None:
    """Let no agent follow a run any more, as far as the session files can be written."""
    followed: Followed = {"run": run, "project": project, "script": ""}
    for name in names():
        _release(name, followed)


def statuses(name: str, session: dict[str, Any], by_ledger: bool = False, but: Sequence[Followed] = ()) -> list[Status]:
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
            status = refreshed(followed)
        else:
            status.pop("is_paused", None)
        if status is not None:
            found.append(status_of(followed, status))
        else:
            over.append(followed)
    drop(name, session, over)
    return found


def drop(name: str, session: dict[str, Any], over: Sequence[Followed]) -> None:
    """Let an agent follow these runs no more; of one whose ledger was removed it is reminded before."""
    kept = [one for one in session["runs"] if one not in over or has_lost_ledger(one)]
    if kept != session["runs"]:
        session["runs"] = kept
        keep(name, session, kept)


def refreshed(followed: Followed) -> Status | None:
    """The status of a run by the ledger; None if it has ended, or was given up and the ledger cannot be used."""
    from skills.lib.hosts.hook import run_status  # most events need no ledger

    try:
        return run_status.refreshed(followed)
    except LockstepError:
        if followed.get("given_up"):
            return None
        raise


def status_of(followed: Followed, status: Status) -> Status:
    """A status of a run with what the session knows of it."""
    about = {"run": followed["run"], "project": followed["project"], "has_opened": followed.get("opened", False)}
    return {**status, **about}


def holding(statuses: Sequence[Status]) -> list[Status]:
    """The runs that hold an agent: begun, not paused, and not waiting for a sub-agent's run that it follows too."""
    begun = [status for status in statuses if _is_begun(status) and not status.get("is_paused")]
    return [
        status
        for status in begun
        if not any(one["run"].startswith(status["run"] + ".") and one["project"] == status["project"] for one in begun)
    ]


def held(name: str, session: dict[str, Any], by_ledger: bool = False, but: Sequence[Followed] = ()) -> Status | None:
    """The status of the run that holds an agent; of several the one that it named last. See ``statuses``."""
    return next(iter(holding(statuses(name, session, by_ledger, but))), None)


def _is_begun(status: Status) -> bool:
    """True if the run holds the agent: until a command moves it only one that it has opened does, or a sub-agent's."""
    return status["status"] != "pending" and (is_in_the_middle(status) or status["has_opened"] is True)


def is_in_the_middle(status: Status) -> bool:
    """True if a command moved the run on, or it is a sub-agent's: the end of a turn is then too early."""
    return bool(status["parent"]) or (status["turn"] > 1 and status.get("opened") is not True)


def kept_of(session: dict[str, Any], held: Status) -> Followed:
    """What the session keeps of the run that holds it."""
    found: Followed = next(one for one in session["runs"] if key(one) == key(held))
    return found


def _release(name: str, followed: Followed) -> None:
    """Take a run from another session; a session that was not heard of for long is forgotten."""
    try:
        old = time.time() - os.stat(path_of(name)).st_mtime > FORGOTTEN
        found = None if old or name.endswith(files.PART) else read(name)
        if old:
            forget(name)
        elif found is not None:
            kept = [one for one in found["runs"] if key(one) != key(followed)]
            if kept != found["runs"]:
                keep(name, found, kept)
    except (OSError, ValueError):
        return


def _are_runs(found: object) -> bool:
    return (
        isinstance(found, list)
        and bool(found)
        and all(
            isinstance(one, dict) and all(isinstance(one.get(name), str) for name in ("run", "project", "script"))
            for one in found
        )
    )
