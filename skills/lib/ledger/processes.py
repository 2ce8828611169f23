"""Notes which evidence command is running, so that it can be ended by another process than the one that waits for it.

A step that is killed leaves its command running. The next check of the same run ends that command first, and so do
``lockstep abandon`` and ``Runner.cancel``. A note is a file in the user's state folder, where nothing comes with a
cloned project. It names a process by its id and its start, so that a later process with the same id is left alone.
"""

from __future__ import annotations

import os
import sys

from skills.lib import compact_json, files, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

FOLDER = "commands"
# No note is longer (bytes).
_LONGEST = 2_000
# How long the program that says when a process started may take, in seconds.
_PATIENCE = 5


def note(project: str, run_id: str, pid: int) -> str:
    """Note that this process waits for a command of the run, the leader of a process group; return the note's path.

    Empty if no note can be kept: then nobody else ends the command.
    """
    command, step = _identity(pid), _identity(os.getpid())
    if not command or not step:
        return ""
    path = os.path.join(paths.state(), FOLDER, f"{_prefix(project, run_id)}{pid}")
    about = {"run": run_id, "project": project, "pid": pid, "is": command, "step": os.getpid(), "step_is": step}
    try:
        files.write(path, compact_json.dumps(about).encode())
    except OSError:
        return ""
    return path


def forget(path: str) -> bool:
    """Remove a note; False if it was gone: then the command was ended from elsewhere."""
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def end(project: str, run_id: str, orphans: bool = False) -> int:
    """End the commands of a run with all that they started; with ``orphans`` only those for which no step waits.

    Returns how many were ended. A note is removed once its command and the step that waits for it have ended: a step
    takes a note that is gone as the sign that others ended its command.
    """
    count = 0
    for path, about in _notes():
        is_left = _has_ended(about["step"], about["step_is"]) or _identity(about["step"], alive=True) == ""
        has_ended = _has_ended(about["pid"], about["is"])
        if has_ended and is_left:
            files.remove(path)
        is_of_run = os.path.basename(path).startswith(_prefix(project, run_id))
        if is_of_run and (is_left or not orphans) and _identity(about["pid"]) == about["is"] and not has_ended:
            count += _kill(path, about["pid"])
    return count


def _kill(path: str, pid: int) -> bool:
    """Kill a process group; the process that waits for the command knows it by the missing note."""
    import signal  # it brings enum; most often nothing is left to kill

    if not forget(path):
        return False
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        return False
    return True


def _prefix(project: str, run_id: str) -> str:
    return compact_json.digest([os.path.realpath(project), run_id]) + "."


def _notes() -> Iterator[tuple[str, dict[str, Any]]]:
    folder = os.path.join(paths.state(), FOLDER)
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        try:
            about = compact_json.loads(files.read(path, _LONGEST).decode())
            kinds = {"pid": int, "is": str, "step": int, "step_is": str}
            if all(type(about[key]) is kind for key, kind in kinds.items()):
                yield path, about
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            continue


def _has_ended(pid: int, identity: str) -> bool:
    """True if the process has ended; False also for one in another container, which cannot be looked into."""
    place = _place()
    boot = place.split(" ")[0]
    if not place or not identity.startswith(f"{boot} "):
        return bool(place)
    return identity.startswith(f"{place} ") and _identity(pid) != identity


def _identity(pid: int, alive: bool = False) -> str:
    """What tells a process from all others that have its id at another time; empty if that cannot be told.

    With ``alive`` also empty for one that has ended and that its parent has not asked about yet.
    """
    place, start = _place(), ""
    try:
        if sys.platform.startswith("linux"):
            with open(f"/proc/{pid}/stat", "rb") as file:
                state, *rest = file.read().rpartition(b")")[2].split()
            if not (alive and state in b"ZX"):
                start = rest[18].decode()  # in ticks since the start of the system
        else:
            start = _start_by_ps(pid)
    except (OSError, IndexError, ValueError):
        return ""
    return f"{place} {start}" if place and start else ""


def _place() -> str:
    """The start of the system, and the container, in which ids of processes count; empty if they cannot be told."""
    if not sys.platform.startswith("linux"):
        return "- -"
    try:
        if os.readlink("/proc/self") != str(os.getpid()):  # it shows the processes of another container
            return ""
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return f"{file.read().strip()} {os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return ""


def _start_by_ps(pid: int) -> str:
    import subprocess

    if os.name != "posix":
        return ""
    try:
        printed = subprocess.run(
            ["/bin/ps", "-o", "lstart=", "-p", str(pid)],
            env={"LC_ALL": "C", "TZ": "UTC"},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            timeout=_PATIENCE,
        ).stdout
    except subprocess.TimeoutExpired:
        return ""
    return "_".join(printed.decode("ascii", "replace").split())
