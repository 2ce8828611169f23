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
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from skills.lib import compact_json
from skills.lib.errors import EnvironmentProblem
from skills.lib.hosts import places
from skills.lib.hosts.install.disk import Disk
from skills.lib.hosts.places import Places

FORMAT = 1
IGNORE, IGNORED = ".gitignore", b"*\n"
# How long a command waits for another one that installs in the same place (seconds).
PATIENCE = 30.0
_TAG = "manifest"


@dataclass(frozen=True, slots=True)
class Merged:
    """Our entries in a settings file: a digest of each, and the containers that were made for them."""

    entries: dict[str, str]
    made: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Intended:
    """What is under way: ``puts`` is path -> [new digest, old digest or ""], ``removals`` path -> digest.

    ``committed`` says that all is staged: from then on it is finished and not taken back.
    """

    tag: str
    committed: bool = False
    puts: dict[str, list[str]] = field(default_factory=dict)
    removals: dict[str, str] = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    then: Manifest | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is installed for a host. ``files`` has the digest of each as it was written; paths are absolute here.

    ``skills`` has each skill with the folder that it was taken from. ``uninstalled`` says that all was taken away but
    for ``files``, which stayed because the user changed them.
    """

    host: str
    scope: str
    version: str = ""
    skills: dict[str, str] = field(default_factory=dict)
    hooks: bool = True
    stops: int = 3
    files: dict[str, str] = field(default_factory=dict)
    merged: dict[str, Merged] = field(default_factory=dict)
    folders: tuple[str, ...] = ()
    intended: Intended | None = None
    uninstalled: bool = False

    def is_empty(self) -> bool:
        """Whether nothing is installed."""
        return not self.files and not self.merged and not self.folders


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
        return _from_data(found, place)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise EnvironmentProblem(
            f"the manifest {path_of(place)} cannot be used: {str(error) or type(error).__name__}",
            remedy="restore it; or move it aside, and install again with --force",
        ) from error


def installed(place: Places) -> Manifest | None:
    """The manifest of a host that is installed; None where nothing is, or only what an uninstallation kept is left."""
    told = read(place)
    return None if told is None or told.uninstalled else told


def others(place: Places, project: str) -> list[Manifest]:
    """The manifests of the other hosts in the same scope, which may share folders with this one."""
    found = []
    for host in places.HOSTS:
        other = places.places(host, place.scope, project)
        told = read(other) if host != place.host else None
        if told is not None:
            found.append(told)
    return found


def write(place: Places, told: Manifest) -> None:
    """Replace the manifest."""
    disk = disk_of(place)
    data = {"format": FORMAT, **_to_data(told, place)}
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


def _to_data(told: Manifest, place: Places) -> dict[str, Any]:
    data = asdict(replace(told, intended=None))
    del data["intended"]
    data["files"] = {_stored(path, place): digest for path, digest in told.files.items()}
    data["merged"] = {_stored(path, place): asdict(one) for path, one in told.merged.items()}
    data["folders"] = [_stored(path, place) for path in told.folders]
    data["skills"] = {name: _stored_source(path, place) for name, path in told.skills.items()}
    if told.intended is not None:
        intended = told.intended
        data["intended"] = {
            "tag": intended.tag,
            "committed": intended.committed,
            "puts": {_stored(path, place): digests for path, digests in intended.puts.items()},
            "removals": {_stored(path, place): digest for path, digest in intended.removals.items()},
            "folders": [_stored(path, place) for path in intended.folders],
            "then": _to_data(intended.then, place) if intended.then is not None else None,
        }
    return data


def _from_data(data: dict[str, Any], place: Places) -> Manifest:
    if (data["host"], data["scope"]) != (place.host, place.scope):
        raise ValueError("it is of another host or scope")
    told = Manifest(
        host=place.host,
        scope=place.scope,
        version=str(data["version"]),
        skills={str(name): _source(str(path), place) for name, path in data["skills"].items()},
        hooks=bool(data["hooks"]),
        stops=int(data["stops"]),
        files={_absolute(path, place): str(digest) for path, digest in data["files"].items()},
        merged={
            _absolute(path, place): Merged(dict(one["entries"]), tuple(one["made"]))
            for path, one in data["merged"].items()
        },
        folders=tuple(_absolute(path, place) for path in data["folders"]),
        uninstalled=bool(data.get("uninstalled", False)),
    )
    intended = data.get("intended")
    if not intended:
        return told
    if not str(intended["tag"]).isalnum():
        raise ValueError("its tag is none")
    return replace(
        told,
        intended=Intended(
            tag=str(intended["tag"]),
            committed=bool(intended["committed"]),
            puts={_absolute(path, place): [str(one) for one in two] for path, two in intended["puts"].items()},
            removals={_absolute(path, place): str(one) for path, one in intended["removals"].items()},
            folders=tuple(_absolute(path, place) for path in intended["folders"]),
            then=_from_data(intended["then"], place) if intended["then"] else None,
        ),
    )


def _stored(path: str, place: Places) -> str:
    """A path as the manifest has it: in a project relative to its root, so that the project can be moved."""
    return os.path.relpath(path, place.bases[0]).replace(os.sep, "/") if place.scope == "project" else path


def _absolute(name: str, place: Places) -> str:
    """The path that a manifest means. ValueError for one where nothing of this host's is ever put."""
    path = os.path.join(place.bases[0], name) if place.scope == "project" else name
    roots = [place.skills, place.roles, os.path.dirname(place.hooks)]
    inside = any(root and (path + os.sep).startswith(root + os.sep) for root in roots)
    above = any(root and (root + os.sep).startswith(path + os.sep) for root in roots)
    if os.path.normpath(path) != path or not (inside or above) or any(ord(char) < 32 for char in path):
        raise ValueError(f"nothing of {place.host} belongs at {name!r:.200}")
    return path


def _stored_source(path: str, place: Places) -> str:
    inside = place.scope == "project" and path.startswith(place.bases[0] + os.sep)
    return _stored(path, place) if inside else path


def _source(name: str, place: Places) -> str:
    return name if os.path.isabs(name) else os.path.join(place.bases[0], name)
