"""The launcher: the program ``step`` in the user's state folder, which goes on with a run by the run's id alone.

Beside it each run has an entry: the interpreter, the entry script and the project that its commands name. A step prints
a short command only if the entry says what the long one would. Nothing of it is ever read from a project.
"""

from __future__ import annotations

import os

from skills.lib import paths

# The launcher, and the folder of the entries, in the state folder.
NAME, ENTRIES = "step", "runs"
# The variable that keeps commands long, for shells without here-documents: LOCKSTEP_LAUNCHER=off.
SWITCH = "LOCKSTEP_LAUNCHER"
# A longer entry (bytes) is not read: three paths.
_LONGEST = 20_000


def place() -> str:
    """Where the launcher of this user is."""
    return os.path.join(paths.state(), NAME)


def path() -> str:
    """The path of the launcher; empty if commands are to be long: switched off, on Windows, or it cannot be named."""
    found = place()
    off = os.environ.get(SWITCH) == "off" or os.name == "nt"
    return found if not off and os.path.isabs(found) and found.isprintable() else ""


def serves(launcher: str, run_id: str, *place: str) -> bool:
    """True if the launcher calls the given script in the given project for a run.

    ``place`` is an interpreter, a script and a project. The entry keeps its own interpreter while that is there: a hook
    or a terminal may have another one than the agent.
    """
    found = entry(os.path.dirname(launcher), run_id) if os.access(launcher, os.X_OK) else ()
    return found[1:] == place[1:] and (found[0] == place[0] or os.access(found[0], os.X_OK))


def has_other_interpreter(launcher: str, run_id: str, *place: str) -> bool:
    """True if the launcher serves a run in that way, by another interpreter."""
    found = entry(os.path.dirname(launcher), run_id) if launcher else ()
    return found[1:] == place[1:] and found[0] != place[0]


def entry(state: str, run_id: str) -> tuple[str, ...]:
    """The interpreter, the script and the project of a run, or of the one that it is a sub-agent's of; () if unknown.

    ``run_id`` is that of a run: letters, digits and dots.
    """
    found = read(state, run_id)
    return found if found or "." not in run_id else read(state, run_id.partition(".")[0])


def read(state: str, run_id: str) -> tuple[str, ...]:
    """The entry of exactly that run; () if there is none."""
    try:
        file = os.open(os.path.join(state, ENTRIES, run_id), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return ()
    try:
        lines = os.read(file, _LONGEST).decode().split("\n")
    except (OSError, ValueError):
        return ()
    finally:
        os.close(file)
    return tuple(lines[:3]) if len(lines) == 4 and not lines[3] else ()
