"""Checks of a host: is its program there and of a version that Lockstep knows, and what is installed for it?"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from shlex import quote

from skills.lib.errors import LockstepError
from skills.lib.hosts.doctor.examination import DoctorContext, Result, counted, ok, problem, warning
from skills.lib.hosts.install import installing, manifest, runtime
from skills.lib.hosts.install.changes import digest
from skills.lib.hosts.install.locations import Locations, locations
from skills.lib.hosts.install.manifest import Manifest
from skills.lib.hosts.install.source import read
from skills.lib.hosts.known_hosts import HOSTS, KNOWN, SCOPES
from skills.lib.model.texts import listed

_VERSION = re.compile(r"\b(\d+)\.(\d+)(?:\.(\d+))?")
_SHOWN = 5
# The state of a file -> what kind of result it is, how it is worded, what to do before, and what the command needs
# more.
_DISCARD = "nothing, to keep your edits; to discard them: "
_STATES: dict[str, tuple[Callable[[str, str, str], Result], str, str, tuple[str, ...]]] = {
    "missing": (problem, "missing", "", ()),
    "stuck": (warning, "still with hooks that were switched off, and no plain JSON", "make it plain JSON; then ", ()),
    "stale": (warning, "not as this version would write them", "", ()),
    "changed": (warning, "changed by you, and kept, which is fine", _DISCARD, ("--force",)),
    "foreign": (warning, "of code that no installation wrote", "", ()),
}


def found(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether the host's program is on the PATH."""
    program, remedy = context.program(host), KNOWN[host].package
    if host == "agents":
        yield ok("a folder for any host that reads .agents/skills; there is no program to look for")
    elif program:
        yield ok(f"{host} is on the PATH", program)
    elif context.named:
        yield problem(f"{host} is not on the PATH", remedy=remedy)
    elif _is_installed(context, host):
        yield warning(f"{host} is not on the PATH, and skills are installed for it", remedy=remedy)
    else:
        yield ok(f"{host} is not on the PATH, and nothing is installed for it")


def version(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether the host is of a version that the hooks were tried with."""
    program, known = context.program(host), KNOWN[host]
    if not program:
        return
    answer = context.ask(program, "--version")
    shown = _VERSION.search(answer.out or answer.err)
    if answer.code != 0 or shown is None:
        yield problem(f"{host} --version fails: {answer.why or answer.last_words()}", program, known.package)
        return
    if known.supported is None:
        yield ok(f"version {shown[0]}; the hooks are built from its documents, see docs/hosts")
        return
    first, beyond = known.supported
    span = f"{'.'.join(map(str, first))} and later, below {'.'.join(map(str, beyond))}"
    if first <= tuple(int(part) for part in shown.groups() if part is not None) < beyond:
        yield ok(f"version {shown[0]} (supported: {span})")
    else:
        yield warning(f"version {shown[0]}; the hooks were tried with {span}", program, known.package)


def installation(context: DoctorContext, host: str) -> Iterator[Result]:
    """Which skills are installed in which scope, and by which version."""
    nothing = True
    for place in places(context, host):
        one = manifest.read(place)
        if one is None:
            if manifest.is_foreign(place):
                what, remedy = manifest.foreign_note(place)
                yield warning(what, manifest.path_of(place), remedy)
            continue
        nothing, scope, upgrade = False, place.scope, command(context, "upgrade", place)
        if one.uninstalled:
            yield ok(f"uninstalled ({scope}), but for what you changed: lockstep installed", place.skills)
        elif not one.complete:
            yield problem(
                f"an installation ({scope}) was interrupted; the next one completes it", place.skills, upgrade
            )
        elif one.version != runtime.version():
            what = f"installed ({scope}) by version {one.version or 'unknown'}, and this is {runtime.version()}"
            yield warning(what, place.skills, upgrade)
        else:
            yield ok(f"{counted(len(one.skills), 'skill')} installed ({scope})", place.skills)
    if nothing and (context.program(host) or host == "agents"):
        yield ok(f"nothing is installed for it: lockstep install {host}")


def files(context: DoctorContext, host: str) -> Iterator[Result]:
    """Whether each installed file is as it was written, and as this version would write it."""
    for place in places(context, host):
        one = manifest.installed(place)
        if one is None or not one.complete:
            continue
        # Compared with the folders that the skills were taken from.
        sources = {name: path for name, path in one.skills.items() if os.path.isdir(path)}
        compared = installing.inspect(place, context.project, sources)
        if compared is None or compared.problem:
            why, remedy = (compared.problem, compared.remedy) if compared else ("they are gone", "")
            yield problem(
                f"the installed files ({place.scope}) cannot be compared: {why}",
                remedy=remedy or command(context, "upgrade", place),
            )
            continue
        paths = {state: [file.path for file in compared.files if file.state == state] for state in _STATES}
        for state, (result, worded, first, more) in _STATES.items():
            if paths[state]:
                count, names = len(paths[state]), [os.path.basename(path) for path in paths[state]]
                kind = "file" if state == "foreign" else "installed file"
                remedy = f"rm {quote(paths[state][0])}, unless you know it"
                yield result(
                    f"{counted(count, kind)} ({place.scope}) {worded}: {listed(names, _SHOWN)}",
                    paths[state][0],
                    remedy if state == "foreign" else first + command(context, "upgrade", place, *more),
                )
        if not any(paths.values()):
            yield ok(f"{len(compared.files)} installed files ({place.scope}) are as they were written")


def places(context: DoctorContext, host: str) -> list[Locations]:
    """Where things go for a host, in each scope."""
    return [locations(host, scope, context.project) for scope in SCOPES]


def command(context: DoctorContext, verb: str, place: Locations, *more: str) -> str:
    """A ``lockstep`` command about an installation."""
    project = ["--project", quote(context.project)] if place.scope == "project" else []
    return " ".join(["lockstep", verb, place.host, "--scope", place.scope, *project, *more])


def reports_on(context: DoctorContext, place: Locations, name: str) -> bool:
    """True if a problem of a skill is reported for this host, and not for another that reads the same folder.

    That is the owner if it is examined; else one whose program is there; else the first.
    """
    readers = [one.host for one in _sharing(context, context.hosts, place)]
    owner = _owner(context, place, name)
    if owner is not None and owner.host in readers:
        return place.host == owner.host
    return place.host == next((one for one in readers if context.program(one)), readers[0])


def renewal(context: DoctorContext, place: Locations, name: str) -> str:
    """The command that writes a skill again, or removes what is left of it; empty if no installation owns it."""
    owner = _owner(context, place, name)
    if owner is None:
        return ""
    of_owner = locations(owner.host, place.scope, context.project)
    if owner.uninstalled:
        return command(context, "uninstall", of_owner, "--force")
    # A file of a skill that is no part of the installation any more was kept, and goes with --force.
    return command(context, "upgrade", of_owner, *(() if name in owner.skills else ("--force",)))


def edited(context: DoctorContext, place: Locations, name: str) -> str:
    """The first file of an installed skill that is not as it was written; empty if there is none."""
    owner = _owner(context, place, name)
    skill = os.path.join(place.skills, name) + os.sep
    for path, digests in owner.files.items() if owner is not None else ():
        with suppress(LockstepError):  # a file that is missing has another check
            if path.startswith(skill) and os.path.lexists(path) and digest(read(path)) not in digests:
                return path
    return ""


def is_written(context: DoctorContext, place: Locations, script: str) -> bool:
    """True if a script in the folder of skills is as an installation wrote it."""
    for other in _sharing(context, HOSTS, place):
        with suppress(LockstepError):  # the checks of that host report it
            one = manifest.read(other)
            if one is not None and script in one.files:
                return digest(read(script)) in one.files[script]
    return False


def _is_installed(context: DoctorContext, host: str) -> bool:
    """True if a manifest says that something is installed for a host, or a manifest is damaged."""
    try:
        return any(manifest.installed(place) is not None for place in places(context, host))
    except LockstepError:
        return True


def _owner(context: DoctorContext, place: Locations, name: str) -> Manifest | None:
    """The manifest that has files of a skill; one of an installation before one of what an uninstallation kept."""
    skill, owners = os.path.join(place.skills, name) + os.sep, []
    for other in _sharing(context, HOSTS, place):
        with suppress(LockstepError):  # the checks of that host report it
            one = manifest.read(other)
            if one is not None and any(path.startswith(skill) for path in one.files):
                owners.append(one)
    return min(owners, key=lambda one: one.uninstalled, default=None)


def _sharing(context: DoctorContext, hosts: Sequence[str], place: Locations) -> list[Locations]:
    """The locations of those hosts that look for skills in the same folder."""
    found = [locations(host, place.scope, context.project) for host in hosts]
    return [other for other in found if other.skills == place.skills]
