"""Checks for files that outlived what they were about: markers and sessions of runs that have ended."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

from skills.lib import markers, paths
from skills.lib.errors import LedgerError
from skills.lib.hosts import sessions
from skills.lib.hosts.doctor.patient import Patient
from skills.lib.hosts.doctor.project import has_ledger
from skills.lib.hosts.doctor.result import Result, ok, warning

FIX = "lockstep doctor --fix"
# A file that was being written that long ago (seconds) is not being written any more.
_ABANDONED = 600.0


def markers_of_ended_runs(patient: Patient) -> Iterator[Result]:
    """Markers of runs that are open no more; with one, the hook takes its slow way until it is gone."""
    folder = markers.folder(patient.project)
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return
    stale = 0
    for name in names:
        path = os.path.join(folder, name)
        if name.endswith(".part"):
            reason = "a marker was begun and never finished" if _is_old(path) else ""
        elif _has_ended(patient.project, name):
            reason = f"a marker says that {name:.80} is open, and by the ledger it is not"
        else:
            reason = "" if markers.read(patient.project, name) else f"the marker of {name:.80} cannot be read"
        if reason:
            stale += 1
            yield warning(reason, path, FIX, stale=path)
    if not stale:
        yield ok(f"{len(names)} marker{'' if len(names) == 1 else 's'}, each of an open run", folder)


def sessions_of_ended_runs(patient: Patient) -> Iterator[Result]:
    """Files of sessions that follow nothing any more; with one, the hook of every other session starts slower."""
    stale, names = 0, sessions.names()
    for name in sorted([*names, *sessions.unfinished()]):
        path = sessions.path_of(name)
        reason = _why_stale(name, path)
        if reason:
            stale += 1
            yield warning(reason, path, FIX, stale=path)
    if not stale:
        yield ok(f"{len(names)} session{'' if len(names) == 1 else 's'} follow{'s' * (len(names) == 1)} a run")


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
