"""Checks for files that outlived what they were about: markers and sessions of runs that have ended.

A cloned project may bring links and files of any name. What is removed is a regular file that is named as Lockstep
names them, in a folder that is no link.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Iterator
from shlex import quote

from skills.lib import paths, status_files
from skills.lib.errors import LedgerError
from skills.lib.hosts.doctor.context import DoctorContext
from skills.lib.hosts.doctor.project import has_ledger
from skills.lib.hosts.doctor.result import Result, ok, problem, warning
from skills.lib.hosts.hook import sessions

FIX = "lockstep doctor --fix"
# A file that was being written that long ago (seconds) is not being written any more.
_ABANDONED = 600.0
# The name of a session's file: a host, then an id or a digest of one, then those of a sub-agent.
_SESSION = re.compile(r"[a-z0-9]+[-~][A-Za-z0-9_.~-]*")
_AWAY = "move it away"


def markers_of_ended_runs(context: DoctorContext) -> Iterator[Result]:
    """Markers of runs that are open no more; with one, the hook takes its slow way until it is gone."""
    folder = status_files.folder(context.project)
    linked = link_to(context.project, folder)
    if linked:
        what = "a link is in the place of the folder, and its files are left alone"
        yield problem(what, linked, f"rm {quote(linked)}")
        return
    try:
        names = sorted(name for name in os.listdir(folder) if status_files.is_id(name))
    except FileNotFoundError:
        return
    odd = 0
    for name in names:
        path = os.path.join(folder, name)
        if not _is_regular(path):
            odd += 1
            yield problem(f"in the place of the marker of {name:.80} is no regular file", path, _AWAY)
            continue
        reason = _why_gone(context.project, name, path)
        if reason:
            odd += 1
            yield warning(reason, path, FIX, stale=path)
    if not odd:
        yield ok(f"{len(names)} marker{'' if len(names) == 1 else 's'}, each of an open run", folder)


def _why_gone(project: str, name: str, path: str) -> str:
    """Why a marker may go; empty where it may not."""
    if name.endswith(".part"):
        return "a marker was begun and never finished" if _is_old(path) else ""
    if _has_ended(project, name):
        return f"a marker says that {name:.80} is open, and by the ledger it is not"
    return "" if status_files.read(project, name) else f"the marker of {name:.80} cannot be read"


def sessions_of_ended_runs(context: DoctorContext) -> Iterator[Result]:
    """Files of sessions that follow nothing any more; with one, the hook of every other session starts slower."""
    odd, names = 0, [name for name in sessions.names() if _SESSION.fullmatch(name)]
    for name in sorted([*names, *filter(_SESSION.fullmatch, sessions.unfinished())]):
        path = sessions.path_of(name)
        if not _is_regular(path):
            odd += 1
            yield problem(f"in the place of a session's file, {name:.80}, is no regular file", path, _AWAY)
            continue
        reason = _why_stale(name, path)
        if reason:
            odd += 1
            yield warning(reason, path, FIX, stale=path)
    if not odd:
        yield ok(f"{len(names)} session{'' if len(names) == 1 else 's'} follow{'s' * (len(names) == 1)} a run")


def remove(path: str) -> None:
    """Remove a file that is stale; nothing where it is gone. OSError where it, or its folder, is of another kind."""
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        name = os.path.basename(path)
        if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", path)
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return
    finally:
        os.close(folder)


def link_to(project: str, folder: str) -> str:
    """The first link on the way from a project to a folder of its records; empty where there is none.

    A folder outside the project was named by the user (LOCKSTEP_HOME): what lies below its parent is looked at.
    """
    inside = folder.startswith(project.rstrip(os.sep) + os.sep)
    place = project if inside else os.path.dirname(folder)
    for part in os.path.relpath(folder, place).split(os.sep):
        place = os.path.join(place, part)
        if os.path.islink(place):
            return place
    return ""


def _is_regular(path: str) -> bool:
    """Whether a file is there, or nothing any more; no link, folder, pipe or device."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return True


def _why_stale(name: str, path: str) -> str:
    if name.endswith(".part"):
        return "a session's file was begun and never finished" if _is_old(path) else ""
    try:
        session = sessions.read(name)
    except ValueError:
        return "a session's file is damaged, and holds up every tool of its session"
    if session is None:
        return ""
    if all(_has_ended(one["project"], one["run"]) for one in session["runs"]):
        runs = ", ".join(one["run"] for one in session["runs"])
        return f"a session of {sessions.host_of(name)} follows only runs that have ended: {runs:.200}"
    return ""


def _has_ended(project: str, run_id: str) -> bool:
    """Whether a run is open no more; a ledger that cannot be read answers no."""
    from skills.lib.ledger import Ledger

    if not os.path.isdir(project) or not has_ledger(project):
        return True
    try:
        opened = Ledger(paths.home(project), create=False)
        try:
            run = opened.run(run_id)
        finally:
            opened.close()
    except LedgerError:
        return False
    return run is None or run.ended


def _is_old(path: str) -> bool:
    try:
        return time.time() - os.stat(path).st_mtime > _ABANDONED
    except OSError:
        return False
