"""The manifest: one JSON file for each host that says which files were written where.

    .lockstep/installed/HOST.json                    for a project
    ~/.local/state/lockstep/installed/HOST.json      for a user (LOCKSTEP_STATE, XDG_STATE_HOME)

It is written before the files, with ``complete`` false and the digests to come beside those that were there, and again
after them. So a file whose digest it names is Lockstep's, also after a stop, and the next installation completes it.

A cloned project may bring a manifest along. The one of a project is signed (``signature``), and one that this machine
did not write decides nothing. Reading is strict, too: each value is of its kind, and each path is one where Lockstep
puts something for that host.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from skills.lib import compact_json
from skills.lib.errors import EnvironmentProblem, LockstepError, RefusedError
from skills.lib.hosts.install import locations, roles, signature, source
from skills.lib.hosts.install.disk import Disk
from skills.lib.hosts.install.locations import Locations
from skills.lib.hosts.known_hosts import HOSTS, SCOPES

FORMAT = 2
IGNORE, IGNORED = ".gitignore", b"*\n"
# How long a command waits for another one that installs in the same place (seconds).
PATIENCE = 30.0
# The longest name and the longest path that file systems take (bytes).
_LONGEST_NAME, _LONGEST = 255, 4_000


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is installed for a host; paths are absolute here.

    ``version`` is the runtime that the skills name. ``skills`` has each skill with the folder that it was taken from,
    ``files`` the digests by which each file is Lockstep's. ``entries`` has the digest of each event's entry in a
    settings file; ``made`` is true if that file was not there before. ``uninstalled`` is true if everything was removed
    except what the user changed, or settings that cannot be edited. ``allow`` is true if the host is told to run the
    step scripts without a question, and ``rules`` has our entries for that in a settings file.
    """

    host: str
    scope: str
    version: str = ""
    skills: dict[str, str] = field(default_factory=dict)
    hooks: bool = True
    stops: int = 3
    files: dict[str, tuple[str, ...]] = field(default_factory=dict)
    entries: dict[str, str] = field(default_factory=dict)
    made: bool = False
    complete: bool = True
    uninstalled: bool = False
    allow: bool = False
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OtherInstall:
    """Another installation that may share folders with this one, and its locations."""

    place: Locations
    manifest: Manifest


def path_of(place: Locations) -> str:
    """The manifest's file."""
    return os.path.join(place.records, f"{place.host}.json")


def read(place: Locations, foreign: bool = False) -> Manifest | None:
    """The manifest of a host; None if there is none that this machine wrote. EnvironmentProblem if it is damaged.

    With ``foreign`` it is also one of another machine, or of a Lockstep that signed none.
    """
    found, is_own = _read(place)
    return found if is_own or foreign else None


def is_foreign(place: Locations) -> bool:
    """True if there is a manifest that this machine did not write. EnvironmentProblem if it is damaged."""
    found, is_own = _read(place)
    return found is not None and not is_own


def _read(place: Locations) -> tuple[Manifest | None, bool]:
    """The manifest of a host, and whether this machine wrote it. EnvironmentProblem if it is damaged."""
    raw = _disk(place).read(path_of(place))
    if raw is None:
        return None, False
    try:
        data = compact_json.loads(raw.decode(), strict=True)
        found = _from_data(data, place)
        is_own = place.scope == "user" or signature.is_valid(data.pop("signature", None), data)
        return found, is_own
    except (ValueError, TypeError, KeyError, AttributeError, RefusedError) as error:
        why = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise EnvironmentProblem(
            f"the manifest {path_of(place)} cannot be used: {why}",
            remedy="restore it; or move it aside, and install again with --force",
        ) from error


def foreign_note(place: Locations) -> tuple[str, str]:
    """What is said of a manifest that this machine did not write, and what to do."""
    what = f"{path_of(place)} was not written on this machine, and decides nothing"
    return what, f"lockstep install {place.host} --scope {place.scope} takes its place"


def installed(place: Locations) -> Manifest | None:
    """The manifest of a host that is installed; None if nothing is, or only what an uninstallation left."""
    found = read(place)
    return None if found is None or found.uninstalled else found


def others(place: Locations, project: str) -> list[OtherInstall]:
    """The other installations that may share files with this one.

    Those are the other hosts' of the same scope and, if the project is the home, those of the other scope. A damaged
    manifest counts only if it shares a folder: EnvironmentProblem.
    """
    [scope] = set(SCOPES) - {place.scope}
    there = project if scope == "user" else place.bases[0]
    near = [locations.locations(host, place.scope, project) for host in HOSTS]
    far = [locations.locations(host, scope, there) for host in HOSTS]
    found = []
    for other in (*near, *(other for other in far if _shares(place, other))):
        try:
            manifest = read(other) if path_of(other) != path_of(place) else None
        except LockstepError:
            if _shares(place, other):
                raise
            continue
        if manifest is not None:
            found.append(OtherInstall(other, manifest))
    return found


def write(place: Locations, manifest: Manifest) -> None:
    """Replace the manifest; a project's .lockstep is made with the file that keeps git out of it.

    Paths in a project are relative to its root, so that the project can be moved.
    """
    disk, ignore = _disk(place), os.path.join(os.path.dirname(place.records), IGNORE)
    if place.scope == "project" and disk.read(ignore) is None:
        disk.put(ignore, IGNORED)
    data = {"format": FORMAT, **asdict(manifest)}
    data["files"] = {_stored(path, place): list(digests) for path, digests in manifest.files.items()}
    data["skills"] = {name: _stored(path, place) for name, path in manifest.skills.items()}
    # The skills that are no part of the installation any more, and of which a file is left.
    data["kept"] = sorted({name for path in manifest.files if (name := place.skill_of(path))} - set(manifest.skills))
    if place.scope == "project":
        data["signature"] = signature.of(data)
    disk.put(path_of(place), (json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode())


def forget(place: Locations) -> None:
    """Remove the manifest, and a project's .lockstep if nothing else is in it."""
    disk, home = _disk(place), os.path.dirname(place.records)
    ignore = os.path.join(home, IGNORE)
    for path in (ignore, path_of(place)):
        disk.drop_part(path)
    disk.remove(path_of(place))
    disk.prune(path_of(place))
    if place.scope == "user" and not os.path.lexists(home):
        locations.remove_empty_above(home)
    if place.scope == "project" and disk.names(home) == [IGNORE] and disk.read(ignore) == IGNORED:
        disk.remove(ignore)
        disk.prune(ignore)


@contextmanager
def locked(place: Locations) -> Iterator[None]:
    """Hold the lock of a scope: one on the project's root or the home itself, so that no file of a lock is left."""
    import fcntl

    end = time.monotonic() + PATIENCE
    try:
        file = os.open(place.bases[0], os.O_RDONLY)
    except OSError as error:
        raise EnvironmentProblem(
            f"{place.bases[0]} cannot be opened: {error.strerror}",
            remedy=f"it is where the {place.scope} scope is; make it, and try again",
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


def _disk(place: Locations) -> Disk:
    """The disk for the manifests of that scope: below the project, or the folder of the user's state."""
    above = os.path.dirname(os.path.dirname(place.records))
    return Disk(place.bases if place.scope == "project" else (above,))


def _shares(one: Locations, other: Locations) -> bool:
    """True if two installations have a folder, or a file of hooks, in common."""
    pairs = ((one.skills, other.skills), (one.roles, other.roles), (one.hooks, other.hooks))
    return any(mine and mine == theirs for mine, theirs in pairs)


def _from_data(data: Any, place: Locations) -> Manifest:
    """The manifest that JSON data has.

    Raises ValueError, TypeError, KeyError, AttributeError or RefusedError if it has none.
    """
    if not isinstance(data, dict) or data.get("format") not in (1, FORMAT):
        raise ValueError("it has another format")
    if (data["host"], data["scope"]) != (place.host, place.scope):
        raise ValueError("it is of another host or scope")
    if data["format"] == 1:
        data = _from_first_format(data)
    names = [*data["skills"], *_texts(data.get("kept", []))]
    for name in names:
        source.check_name(name)
        if "/" in name:
            raise ValueError(f"{name!r:.200} is no name of a skill")
    if type(data["stops"]) is not int or not 0 <= data["stops"] <= 1_000:
        raise ValueError("its number of stops is none")
    return Manifest(
        host=place.host,
        scope=place.scope,
        version=_text(data["version"]),
        skills={name: os.path.join(place.bases[0], _text(path)) for name, path in data["skills"].items()},
        hooks=bool(data["hooks"]),
        stops=data["stops"],
        files={_file(path, place, names): tuple(_texts(digests)) for path, digests in data["files"].items()},
        entries={_text(event): _text(digest) for event, digest in data["entries"].items()},
        made=bool(data["made"]),
        complete=bool(data["complete"]),
        uninstalled=bool(data["uninstalled"]),
        allow=bool(data.get("allow")),
        rules=tuple(_texts(data.get("rules", []))),
    )


def _from_first_format(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data of a manifest of format 1, which had whole skills and a journal of what was under way, in format 2."""
    files = {path: [digest] for path, digest in data["files"].items()}
    journal = data.get("intended") or {"puts": {}, "removals": {}}
    for path, digests in journal["puts"].items():
        files[path] = [*files.get(path, []), *[one for one in digests if one]]
    for path, digest in journal["removals"].items():
        files.setdefault(path, [digest])
    [merged] = list(data["merged"].values()) or [{"entries": {}, "made": []}]
    return {
        **data,
        "files": files,
        "entries": merged["entries"],
        "made": "" in merged["made"],
        "complete": not data.get("intended"),
        "uninstalled": data.get("uninstalled", False),
        "kept": [*data.get("kept", []), *(((data.get("intended") or {}).get("then") or {}).get("skills") or {})],
    }


def _text(value: object) -> str:
    """A text that a path can be made of."""
    if not isinstance(value, str) or any(ord(char) < 32 or 0xD800 <= ord(char) < 0xE000 for char in value):
        raise ValueError(f"{value!r:.200} is not plain text")
    return value


def _texts(values: object) -> list[str]:
    if not isinstance(values, list):
        raise ValueError(f"{values!r:.200} is no list")
    return [_text(value) for value in values]


def _file(name: object, place: Locations, skills: Iterable[str]) -> str:
    """The path of a file that a manifest means; ValueError for one that is never put there for this host."""
    path = os.path.join(place.bases[0], _text(name)) if place.scope == "project" else _text(name)
    raw = os.fsencode(path)
    if len(raw) > _LONGEST or any(len(part) > _LONGEST_NAME for part in raw.split(b"/")):
        raise ValueError(f"{name!r:.80}… is too long for a path")
    folder, own = os.path.split(path)
    is_hooks = path == place.hooks and not place.is_merged
    is_rules = bool(place.rules) and path == place.rules
    is_role = bool(place.roles) and folder == place.roles and own in roles.files(place.host)
    is_of_skill = any(path.startswith(os.path.join(place.skills, skill) + os.sep) for skill in skills)
    if os.path.normpath(path) != path or not (is_hooks or is_rules or is_role or is_of_skill):
        raise ValueError(f"nothing of {place.host} belongs at {name!r:.200}")
    return path


def _stored(path: str, place: Locations) -> str:
    inside = place.scope == "project" and path.startswith(place.bases[0] + os.sep)
    return os.path.relpath(path, place.bases[0]).replace(os.sep, "/") if inside else path
