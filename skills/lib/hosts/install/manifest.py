"""What was put where, per host: one JSON file.

    .lockstep/installed/HOST.json                    for a project
    ~/.local/state/lockstep/installed/HOST.json      for a user (LOCKSTEP_STATE, XDG_STATE_HOME)

While an installation is under way the file also holds what is intended, so that the next command can take back what
was only staged, or finish what was begun.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from skills.lib import compact_json
from skills.lib.errors import EnvironmentProblem, LockstepError
from skills.lib.hosts import places
from skills.lib.hosts.install import record
from skills.lib.hosts.install.disk import Disk
from skills.lib.hosts.install.record import Manifest
from skills.lib.hosts.places import Places

FORMAT = 1
IGNORE, IGNORED = ".gitignore", b"*\n"
# How long a command waits for another one that installs in the same place (seconds).
PATIENCE = 30.0
_TAG = "manifest"


def path_of(place: Places) -> str:
    """The manifest's file."""
    return os.path.join(place.records, f"{place.host}.json")


def disk_of(place: Places) -> Disk:
    """The disk as far as records of that scope are written: in the project, or in the user's state folder."""
    return Disk(place.bases if place.scope == "project" else (place.records,))


def read(place: Places) -> Manifest | None:
    """The manifest of a host; None where there is none. EnvironmentProblem where it is damaged."""
    data = disk_of(place).read(path_of(place))
    if data is None:
        return None
    try:
        found = compact_json.loads(data.decode(), strict=True)
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise ValueError("it has another format")
        return record.from_data(found, place)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        why = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise EnvironmentProblem(
            f"the manifest {path_of(place)} cannot be used: {why}",
            remedy="restore it; or move it aside, and install again with --force",
        ) from error


def installed(place: Places) -> Manifest | None:
    """The manifest of a host that is installed; None where nothing is, or only what an uninstallation kept is left."""
    told = read(place)
    return None if told is None or told.uninstalled else told


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another installation that may share folders with one, and where it puts things."""

    place: Places
    told: Manifest


def others(place: Places, project: str) -> list[Neighbour]:
    """The manifests of other installations that may share folders with this one.

    Those are the other hosts' of the same scope, and where the project is the home also those of the other scope. A
    damaged one counts only where it shares a folder: EnvironmentProblem.
    """
    near = [places.places(host, place.scope, project) for host in places.HOSTS]
    for scope in places.SCOPES:
        far = [places.places(host, scope, project if scope == "user" else place.bases[0]) for host in places.HOSTS]
        near += [other for other in far if scope != place.scope and _shares(place, other)]
    found = []
    for other in near:
        if path_of(other) == path_of(place):
            continue
        try:
            told = read(other)
        except LockstepError:
            if _shares(place, other):
                raise
            continue
        if told is not None:
            found.append(Neighbour(other, told))
    return found


def _shares(one: Places, other: Places) -> bool:
    """Whether two installations have a folder, or a file of hooks, in common."""
    pairs = ((one.skills, other.skills), (one.roles, other.roles), (one.hooks, other.hooks))
    return any(mine and mine == theirs for mine, theirs in pairs)


def write(place: Places, told: Manifest) -> None:
    """Replace the manifest."""
    disk = disk_of(place)
    data = {"format": FORMAT, **record.to_data(told, place)}
    disk.put(path_of(place), (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode(), _TAG)


def forget(place: Places) -> None:
    """Remove the manifest."""
    disk_of(place).remove(path_of(place))


def drop_staged(place: Places) -> None:
    """Remove a manifest that was only begun."""
    disk_of(place).drop_staged(path_of(place), _TAG)


@contextmanager
def locked(place: Places) -> Iterator[None]:
    """Hold the lock of a scope: one on the project's root or the home itself, so that no file of a lock is left."""
    import fcntl

    end = time.monotonic() + PATIENCE
    try:
        file = os.open(place.bases[0], os.O_RDONLY)
    except OSError as error:
        what = f"{place.bases[0]} cannot be opened: {error.strerror}"
        raise EnvironmentProblem(
            what, remedy=f"it is where the {place.scope} scope is; make it, and try again"
        ) from error
    try:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > end:
                    raise EnvironmentProblem(
                        f"another lockstep command has been installing here for {PATIENCE:g} seconds",
                        remedy="wait for it to end, then run the same command again",
                    ) from None
                time.sleep(0.05)
        yield
    finally:
        os.close(file)


def make_room(place: Places) -> None:
    """Make the folder of the manifests; a project's .lockstep is made with the file that keeps git out of it."""
    disk = disk_of(place)
    home = os.path.dirname(place.records)
    if place.scope == "project" and not os.path.lexists(home):
        part = home + ".part"
        disk.make_folder(part, 0o700)
        disk.put(os.path.join(part, IGNORE), IGNORED, _TAG)
        disk.rename_folder(part, home)
    for folder in disk.missing_folders(path_of(place)):
        disk.make_folder(folder)


def leave_room(place: Places) -> None:
    """Remove the folder of the manifests where it is empty, and a project's .lockstep where it holds nothing else."""
    disk = disk_of(place)
    home = os.path.dirname(place.records)
    if place.scope == "user":
        if disk.remove_folder(place.records) and os.path.basename(home) == "lockstep":
            Disk((home,)).remove_folder(home)
        return
    part, ignore = home + ".part", os.path.join(home, IGNORE)
    if disk.remove_folder(place.records) and disk.names(home) == [IGNORE] and disk.read(ignore) == IGNORED:
        disk.rename_folder(home, part)
    disk.drop_staged(os.path.join(part, IGNORE), _TAG)
    disk.remove(os.path.join(part, IGNORE))
    disk.remove_folder(part)
