"""Checks of the records of runs: the ledger, the runs in it, and status and session files of runs that have ended.

A cloned project may bring links and files of any name. What is removed is a regular file that is named as Lockstep
names them, in a folder that is no link.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from shlex import quote

from skills.lib import paths, status_files
from skills.lib.errors import EnvironmentProblem, LedgerError
from skills.lib.files import PART
from skills.lib.hosts.doctor.examination import FIX, DoctorContext, Result, counted, ok, problem, warning
from skills.lib.hosts.hook import sessions
from skills.lib.ledger import Ledger, is_shared, listing, removal, verification
from skills.lib.ledger.database import FILE, exists

# A file that was being written that long ago (seconds) is not being written any more.
_ABANDONED = 600.0
# The name of a session's file: a host, then an id or a digest of one, then those of a sub-agent.
_SESSION = re.compile(r"[a-z0-9]+[-~][A-Za-z0-9_.~-]*")


def ledger(context: DoctorContext) -> Iterator[Result]:
    """Whether every checksum holds and the events lead to the runs as they stand."""
    home = paths.home(context.project)
    if is_shared():
        yield _shared(context.project, home)
        return
    if not os.path.isdir(home) or (os.access(home, os.X_OK) and not exists(home)):
        yield ok("no run was ever opened here", home)
        return
    if not os.access(home, os.W_OK | os.X_OK):
        yield problem("the ledger's folder cannot be written", home, f"chmod u+rwx {quote(home)}")
        return
    try:
        with Ledger(home, create=False) as opened:
            verification.verify(opened)
            count = counted(listing.count(opened), "run")
    except LedgerError as error:
        moved = "damaged" in error.what or "missing" in error.what or "not a ledger" in error.what
        remedy = _way_out(context.project, home) if moved else error.in_shell
        yield problem(error.what, os.path.join(home, FILE), remedy)
    else:
        yield ok(f"the ledger is whole: {count}", os.path.join(home, FILE))


def _shared(project: str, home: str) -> Result:
    """Whether the ledger in a database that machines share is whole, as above."""
    try:
        opened = Ledger.existing(home)
        if opened is None:
            return ok("no run was ever opened here: the shared database has no ledger of it")
        with opened:
            try:
                verification.verify(opened)
            except LedgerError as error:
                unreadable = "damaged" in error.what and removal.unreadable(opened)
                remedy = f"lockstep prune --unreadable --project {quote(project)}" if unreadable else error.in_shell
                return problem(error.what, remedy=remedy)
            return ok(f"the ledger is whole: {counted(listing.count(opened), 'run')}", opened.path)
    except EnvironmentProblem as error:
        return problem(error.what, remedy=error.in_shell)


def _way_out(project: str, home: str) -> str:
    """What brings a damaged ledger back: to take out the runs that cannot be read, if only these are damaged."""
    with suppress(LedgerError), Ledger(home, create=False) as opened:
        if removal.unreadable(opened):
            return f"lockstep prune --unreadable --project {quote(project)}"
    return f"mv {quote(home)} {quote(home + '.aside')}"


def open_runs(context: DoctorContext) -> Iterator[Result]:
    """Whether the script of each open run is still there."""
    opened = Ledger.existing(paths.home(context.project))
    if opened is None:
        return
    count = 0
    with opened:
        for run in listing.roots(opened):
            count += 1
            if is_shared() and run.project != context.project:  # opened on another machine
                continue
            if run.script and not os.path.isfile(run.script):
                yield problem(
                    f"the run {run.id} of {run.workflow} is open, and its script is gone",
                    run.script,
                    f"lockstep abandon {quote(run.id)} --reason 'its skill is gone' --project {quote(context.project)}",
                )
    if count:
        yield ok(f"{counted(count, 'run')} open: lockstep runs")


def ledgers_above(context: DoctorContext) -> Iterator[Result]:
    """Whether a folder above has a ledger too: an agent that starts there finds other runs than one from here."""
    if os.path.isabs(os.environ.get("LOCKSTEP_HOME") or ""):
        return
    folder = context.project
    while os.path.dirname(folder) != folder:
        folder = os.path.dirname(folder)
        if os.path.isfile(os.path.join(folder, ".lockstep", "runs.db")):
            yield warning(
                "a folder above has a ledger of its own; which one counts depends on where an agent starts",
                os.path.join(folder, ".lockstep"),
                f"lockstep runs --project {quote(folder)}",
            )


def status_of_ended_runs(context: DoctorContext) -> Iterator[Result]:
    """Status files of runs that have ended; with one, the hook takes its slow way until it is removed."""
    folder = status_files.folder(context.project)
    linked = link_to(context.project, folder)
    if linked:
        yield problem(
            "a link is in the place of the folder, and its files are left alone", linked, f"rm {quote(linked)}"
        )
        return
    try:
        names = sorted(name for name in os.listdir(folder) if status_files.is_id(name))
    except FileNotFoundError:
        return

    def why(name: str) -> str:
        if _has_ended(context.project, name):
            return f"a status file says that {name:.80} is open, and by the ledger it is not"
        return "" if status_files.read(context.project, name) else f"the status file of {name:.80} cannot be read"

    wrong = list(_stale(folder, names, "the status file", why))
    yield from wrong
    if not wrong:
        yield ok(f"{counted(len(names), 'status file')}, each of an open run", folder)


def sessions_of_ended_runs(context: DoctorContext) -> Iterator[Result]:
    """Session files that follow nothing any more; with one, the hook of every other session starts slower."""
    names = list(filter(_SESSION.fullmatch, sessions.names()))
    unfinished = filter(_SESSION.fullmatch, sessions.names(unfinished=True))
    wrong = list(_stale(sessions.folder(), sorted([*names, *unfinished]), "the session file", _why_session))
    yield from wrong
    if not wrong:
        yield ok(f"{counted(len(names), 'session')} follow{'s' * (len(names) == 1)} a run")


def _stale(folder: str, names: list[str], kind: str, why: Callable[[str], str]) -> Iterator[Result]:
    """A result for each file that is no regular file, or that may be removed; ``why`` gives the reason, or nothing."""
    for name in names:
        path, reason = os.path.join(folder, name), ""
        try:
            about = os.lstat(path)
        except FileNotFoundError:  # removed in the meantime
            continue
        if not stat.S_ISREG(about.st_mode):
            yield problem(f"in the place of {kind} {name:.80} is no regular file", path, "move it away")
        elif not name.endswith(PART):
            reason = why(name)
        elif time.time() - about.st_mtime > _ABANDONED:
            reason = f"{kind} {name:.80} was begun and never finished"
        if reason:
            yield warning(reason, path, FIX, path)


def remove(path: str) -> None:
    """Remove a stale file, if it is there. Raises OSError if it, or its folder, is of another kind."""
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
    """The first link on the way from a project to a folder of its records; empty if there is none.

    A folder outside the project was named by the user (LOCKSTEP_HOME): only what lies below its parent is checked.
    """
    inside = folder.startswith(project.rstrip(os.sep) + os.sep)
    place = project if inside else os.path.dirname(folder)
    for part in os.path.relpath(folder, place).split(os.sep):
        place = os.path.join(place, part)
        if os.path.islink(place):
            return place
    return ""


def _why_session(name: str) -> str:
    """Why a session file may be removed; empty if it may not."""
    try:
        session = sessions.read(name)
    except ValueError:
        return "a session's file is damaged, and holds up every tool of its session"
    if session is not None and all(_has_ended(one["project"], one["run"]) for one in session["runs"]):
        runs = ", ".join(one["run"] for one in session["runs"])
        return f"a session of {sessions.host_of(name)} follows only runs that have ended: {runs:.200}"
    return ""


def _has_ended(project: str, run_id: str) -> bool:
    """True if a run is open no more; False also if the ledger cannot be read."""
    try:
        ledger = Ledger.existing(paths.home(project)) if os.path.isdir(project) else None
        if ledger is None:
            return True
        with ledger:
            run = ledger.run(run_id)
    except LedgerError:
        return False
    return run is None or run.ended
