"""Which runs an agent of a host's session follows: one small file per agent, in the user's state folder.

Each agent has a file of its own, so that sub-agents that begin at the same moment never write the same one.
"""

from __future__ import annotations

import os
import time

from skills.lib import compact_json, files, paths, status_files
from skills.lib.errors import EnvironmentProblem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NotRequired, TypedDict

    Status = dict[str, Any]  # of a status file

    class Followed(TypedDict):
        """A run that an agent follows.

        ``signed`` if a signed status file said that this user ran the script for this run; ``given_up`` if the agent
        has called ``lockstep abandon`` for it.
        """

        run: str
        project: str
        script: str
        signed: NotRequired[bool]
        given_up: NotRequired[bool]


# A session that has not been heard of for so long (seconds) is forgotten when another one is bound.
FORGOTTEN = 30 * 24 * 3600
# The most runs that an agent follows; the last is the one that it named last.
FOLLOWED = 8
_IN_A_HOST = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_CAPITAL = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_PLAIN = _IN_A_HOST | _CAPITAL | frozenset("-_")


def folder() -> str:
    """The folder of the session files, in the folder of what Lockstep keeps for a user."""
    return os.path.join(paths.state(), "sessions")


def path_of(name: str) -> str:
    """The path of the session file of that name."""
    return os.path.join(folder(), name)


def name_of(host: str, session: str, agent: str = "") -> str:
    """The file name of an agent of a session: ``host-session`` or ``host-session.agent``.

    Ids come from outside and may be anything: for one that is not short and plain the name has ``~`` and a digest. Of a
    host's name the letters and digits count.
    """
    name = "".join(char for char in host.lower() if char in _IN_A_HOST)[:40] + _word(session)
    return f"{name}.{_word(agent)}" if agent else name


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
    """True if the project of a run is there, and no ledger in it; a run is only followed if there was one."""
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
    followed = {**known, **followed} if followed.get("signed") else known
    runs = [one for one in before if key(one) != key(followed)]
    session = {**(session or {}), "runs": [*runs, followed][-FOLLOWED:]}
    status_files.make_key()
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


def _word(given: str) -> str:
    if 0 < len(given) <= 80 and _PLAIN.issuperset(given):
        # Some file systems take a and A for one name. ``run_hook.session_of`` writes an id in the same way.
        return "-" + "".join("=" + char.lower() if char in _CAPITAL else char for char in given)
    return "~" + compact_json.digest(given)


def _are_runs(found: object) -> bool:
    return (
        isinstance(found, list)
        and bool(found)
        and all(
            isinstance(one, dict) and all(isinstance(one.get(name), str) for name in ("run", "project", "script"))
            for one in found
        )
    )
