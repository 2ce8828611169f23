"""What the installer knows of a host, and checks of it: is it finished, of this version, and as it was written?"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from shlex import quote

from skills.lib.errors import LockstepError
from skills.lib.hosts.doctor.context import DoctorContext
from skills.lib.hosts.doctor.result import Result, ok, problem, warning
from skills.lib.hosts.install import installing, manifest, runtime
from skills.lib.hosts.install.locations import Locations, locations
from skills.lib.hosts.install.manifest import Manifest
from skills.lib.hosts.known_hosts import HOSTS, SCOPES

_SHOWN = 5
# The state of a file -> what kind of result it is, how it is worded, what to do before, and what the command needs
# more.
_STATES: dict[str, tuple[Callable[[str, str, str], Result], str, str, tuple[str, ...]]] = {
    "missing": (problem, "missing", "", ()),
    "stuck": (warning, "still with hooks that were switched off, and no plain JSON", "make it plain JSON; then ", ()),
    "stale": (warning, "not as this version would write them", "", ()),
    "changed": (warning, "changed by you, and kept by an upgrade", "", ("--force",)),
}


def installation(context: DoctorContext, host: str) -> Iterator[Result]:
    """Which skills are installed in which scope, and by which version."""
    nothing = True
    for scope in SCOPES:
        found = manifest.read(place(context, host, scope))
        if found is None:
            continue
        nothing = False
        where = place(context, host, scope).skills
        upgrade = command(context, "upgrade", host, scope)
        if found.uninstalled:
            yield ok(f"uninstalled ({scope}), but for what you changed: lockstep installed", where)
        elif not found.complete:
            yield problem(f"an installation ({scope}) was interrupted; the next one completes it", where, upgrade)
        elif found.version != runtime.version():
            what = f"installed ({scope}) by version {found.version or 'unknown'}, and this is {runtime.version()}"
            yield warning(what, where, upgrade)
        else:
            yield ok(f"{len(found.skills)} skill{'' if len(found.skills) == 1 else 's'} installed ({scope})", where)
    if nothing and (context.program(host) or host == "agents"):
        yield ok(f"nothing is installed for it: lockstep install {host}")


def files(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether each installed file is as it was written, and as this version would write it."""
    for scope in SCOPES:
        installed = manifest.installed(place(context, host, scope))
        if installed is None or not installed.complete:
            continue
        # Compared with the folders that the skills were taken from.
        sources = {name: path for name, path in installed.skills.items() if os.path.isdir(path)}
        found = installing.inspect(place(context, host, scope), context.project, sources)
        upgrade = command(context, "upgrade", host, scope)
        if found is None or found.problem:
            what = f"the installed files ({scope}) cannot be compared: {found.problem if found else 'they are gone'}"
            yield problem(what, remedy=(found.remedy if found else "") or upgrade)
            continue
        paths = {state: [entry.path for entry in found.entries if entry.state == state] for state in _STATES}
        for state, (result, worded, first, more) in _STATES.items():
            if paths[state]:
                remedy = first + command(context, "upgrade", host, scope, *more)
                yield result(_counted(paths[state], worded, scope), paths[state][0], remedy)
        if not any(paths.values()):
            yield ok(f"{len(found.entries)} installed files ({scope}) are as they were written")


def place(context: DoctorContext, host: str, scope: str) -> Locations:
    """Where things go for a host."""
    return locations(host, scope, context.project)


def is_installed(context: DoctorContext, host: str) -> bool:
    """True if a manifest says that something is installed for a host, or a manifest is damaged."""
    try:
        return any(manifest.installed(place(context, host, scope)) is not None for scope in SCOPES)
    except LockstepError:
        return True


def command(context: DoctorContext, verb: str, host: str, scope: str, *more: str) -> str:
    """A ``lockstep`` command about an installation."""
    project = ["--project", quote(context.project)] if scope == "project" else []
    return " ".join(["lockstep", verb, host, "--scope", scope, *project, *more])


def reports_on(context: DoctorContext, host: str, scope: str, name: str) -> bool:
    """True if a problem of a skill is reported for this host, and not for another that reads the same folder.

    That is the owner if it is examined; else one whose program is there; else the first.
    """
    readers = [one for one in context.hosts if _share_skills(context, one, host, scope)]
    owner = _owner(context, host, scope, name)
    if owner is not None and owner.host in readers:
        return host == owner.host
    return host == next((one for one in readers if context.program(one)), readers[0])


def renewal(context: DoctorContext, host: str, scope: str, name: str) -> str:
    """The command that writes a skill again, or removes what is left of it; empty if no installation owns it."""
    owner = _owner(context, host, scope, name)
    if owner is None:
        return ""
    if owner.uninstalled:
        return command(context, "uninstall", owner.host, scope, "--force")
    # A file of a skill that is no part of the installation any more was kept, and goes with --force.
    return command(context, "upgrade", owner.host, scope, *(() if name in owner.skills else ("--force",)))


def _owner(context: DoctorContext, host: str, scope: str, name: str) -> Manifest | None:
    """The manifest that has files of a skill; one of an installation before one of what an uninstallation kept."""
    skill = os.path.join(place(context, host, scope).skills, name) + os.sep
    found = []
    for other in HOSTS:
        try:
            one = manifest.read(place(context, other, scope)) if _share_skills(context, other, host, scope) else None
        except LockstepError:  # the checks of that host report it
            continue
        if one is not None and any(path.startswith(skill) for path in one.files):
            found.append(one)
    return min(found, key=lambda one: one.uninstalled, default=None)


def _share_skills(context: DoctorContext, one: str, other: str, scope: str) -> bool:
    return place(context, one, scope).skills == place(context, other, scope).skills


def _counted(paths: list[str], what: str, scope: str) -> str:
    names = ", ".join(os.path.basename(path) for path in paths[:_SHOWN])
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return f"{len(paths)} installed file{'' if len(paths) == 1 else 's'} ({scope}) {what}: {names}{more}"
