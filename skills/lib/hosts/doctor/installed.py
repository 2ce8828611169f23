"""Checks of what the installer put somewhere: whether it is finished, of this version, and as it was written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from shlex import quote

from skills.lib.hosts.doctor.context import PROGRAMS, SCOPES, DoctorContext
from skills.lib.hosts.doctor.result import Result, ok, problem, warning
from skills.lib.hosts.install import runtime

_SHOWN = 5


def command(context: DoctorContext, verb: str, host: str, scope: str, *more: str) -> str:
    """A ``lockstep`` command about an installation."""
    project = ["--project", quote(context.project)] if scope == "project" else []
    return " ".join(["lockstep", verb, host, "--scope", scope, *project, *more])


def installation(context: DoctorContext, host: str) -> Iterator[Result]:
    """Which skills are installed in which scope, and by which version."""
    nothing = True
    for scope in SCOPES:
        told = context.record(host, scope)
        if told is None:
            continue
        nothing = False
        where = context.place(host, scope).skills
        if told.uninstalled:
            yield ok(f"uninstalled ({scope}), but for what you changed: lockstep installed", where)
        elif not told.complete:
            yield problem(
                f"an installation ({scope}) was interrupted; the next one completes it",
                where,
                command(context, "upgrade", host, scope),
            )
        elif told.version != runtime.version():
            what = f"installed ({scope}) by version {told.version or 'unknown'}, and this is {runtime.version()}"
            yield warning(what, where, command(context, "upgrade", host, scope))
        else:
            yield ok(f"{len(told.skills)} skill{'' if len(told.skills) == 1 else 's'} installed ({scope})", where)
    if nothing and (context.program(host) or host not in PROGRAMS):
        yield ok(f"nothing is installed for it: lockstep install {host}")


def files(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether each installed file is as it was written, and as this version would write it."""
    for scope in SCOPES:
        told = context.manifest(host, scope)
        if told is None or not told.complete:
            continue
        found = context.inspected(host, scope)
        if found is None or found.problem:
            what = f"the installed files ({scope}) cannot be compared: {found.problem if found else 'they are gone'}"
            upgrade = command(context, "upgrade", host, scope)
            yield problem(what, remedy=(found.remedy if found else "") or upgrade)
            continue
        paths = {state: [entry.path for entry in found.entries if entry.state == state] for state in _STATES}
        for state, (result, told_as, first, more) in _STATES.items():
            if paths[state]:
                remedy = first + command(context, "upgrade", host, scope, *more)
                yield result(_counted(paths[state], told_as, scope), paths[state][0], remedy)
        if not any(paths.values()):
            yield ok(f"{len(found.entries)} installed files ({scope}) are as they were written")


# The state of a file -> what it comes to, how it is told, what to do before, and what the command needs more.
_STATES: dict[str, tuple[Callable[[str, str, str], Result], str, str, tuple[str, ...]]] = {
    "missing": (problem, "missing", "", ()),
    "stuck": (warning, "still with hooks that were switched off, and no plain JSON", "make it plain JSON; then ", ()),
    "stale": (warning, "not as this version would write them", "", ()),
    "changed": (warning, "changed by you, and kept by an upgrade", "", ("--force",)),
}


def _counted(paths: list[str], what: str, scope: str) -> str:
    names = ", ".join(os.path.basename(path) for path in paths[:_SHOWN])
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return f"{len(paths)} installed file{'' if len(paths) == 1 else 's'} ({scope}) {what}: {names}{more}"
