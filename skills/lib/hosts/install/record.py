"""What a manifest says, and its form as JSON data.

Reading is strict, for a cloned project may bring a manifest along: each value is of its kind, and each path one where
Lockstep puts something for that host: a file of a skill that the manifest names, a role definition, the hooks.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from skills.lib.errors import RefusedError
from skills.lib.hosts import export
from skills.lib.hosts.install import roles
from skills.lib.hosts.places import Places

# What file systems take of a name and of a path (bytes).
_LONGEST_NAME, _LONGEST = 255, 4_000
# The containers that are made in a settings file: the file itself, hooks, one event's list.
_CONTAINER = re.compile(r"(hooks(\.[A-Za-z]+)?)?")
_BLANK = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Merged:
    """Our entries in a settings file: a digest of each, and the containers that were made for them.

    ``blanks`` has, of each container that was there and empty, what stood between its brackets.
    """

    entries: dict[str, str]
    made: tuple[str, ...] = ()
    blanks: dict[str, str] = field(default_factory=dict)


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


def to_data(told: Manifest, place: Places) -> dict[str, Any]:
    """A manifest as JSON data; paths in a project are relative to its root, so that the project can be moved.

    ``kept`` names the skills that are no part of the installation any more, and of which a file is left.
    """
    data = asdict(replace(told, intended=None))
    del data["intended"]
    data["files"] = {_stored(path, place): digest for path, digest in told.files.items()}
    data["merged"] = {_stored(path, place): asdict(one) for path, one in told.merged.items()}
    data["folders"] = [_stored(path, place) for path in told.folders]
    data["skills"] = {name: _stored_source(path, place) for name, path in told.skills.items()}
    data["kept"] = sorted({name for path in told.files if (name := _skill_of(path, place))} - set(told.skills))
    if told.intended is not None:
        intended = told.intended
        data["intended"] = {
            "tag": intended.tag,
            "committed": intended.committed,
            "puts": {_stored(path, place): digests for path, digests in intended.puts.items()},
            "removals": {_stored(path, place): digest for path, digest in intended.removals.items()},
            "folders": [_stored(path, place) for path in intended.folders],
            "then": to_data(intended.then, place) if intended.then is not None else None,
        }
    return data


def from_data(data: dict[str, Any], place: Places) -> Manifest:
    """The manifest that JSON data has; ValueError, TypeError, KeyError or AttributeError where it has none."""
    told = _manifest(data, place)
    given = data.get("intended")
    if not given:
        return told
    then = _manifest(given["then"], place) if given["then"] else None
    if not (_text(given["tag"]).isalnum() and given["tag"].isascii()):
        raise ValueError("its tag is none")
    names = {*_names(data), *(_names(given["then"]) if then is not None else ())}
    puts = {_file(path, place, names): _texts(two) for path, two in given["puts"].items()}
    if any(len(two) != 2 for two in puts.values()):
        raise ValueError("a file under way has not two digests")
    removals = {_file(path, place, names): _text(one) for path, one in given["removals"].items()}
    folders = _folders(given["folders"], place)
    return replace(told, intended=Intended(given["tag"], bool(given["committed"]), puts, removals, folders, then))


def _manifest(data: dict[str, Any], place: Places) -> Manifest:
    """The manifest without what is under way."""
    if (data["host"], data["scope"]) != (place.host, place.scope):
        raise ValueError("it is of another host or scope")
    names, stops = _names(data), data["stops"]
    if type(stops) is not int or not 0 <= stops <= 1_000:
        raise ValueError("its number of stops is none")
    merged = {_text(path): one for path, one in data["merged"].items()}
    files = {_file(path, place, names): _text(digest) for path, digest in data["files"].items()}
    if place.hooks in files and _is_settings(place):
        raise _misplaced(_stored(place.hooks, place), place)
    return Manifest(
        host=place.host,
        scope=place.scope,
        version=str(data["version"]),
        skills={name: _source(_text(path), place) for name, path in data["skills"].items()},
        hooks=bool(data["hooks"]),
        stops=stops,
        files=files,
        merged={_settings(path, place): _merged(one) for path, one in merged.items()},
        folders=_folders(data["folders"], place),
        uninstalled=bool(data.get("uninstalled", False)),
    )


def _names(data: dict[str, Any]) -> set[str]:
    """The skills that a manifest names."""
    names = [*data["skills"].keys(), *_texts(data.get("kept", []))]
    for name in names:
        try:
            export.check_name(name)
        except RefusedError as error:
            raise ValueError(error.what) from None
        if "/" in name:
            raise ValueError(f"{name!r:.200} is no name of a skill")
    return set(names)


def _merged(one: dict[str, Any]) -> Merged:
    entries = {_text(event): _text(digest) for event, digest in one["entries"].items()}
    blanks = {_text(name): _blank(blank) for name, blank in one.get("blanks", {}).items()}
    made = _texts(one["made"])
    if not all(_CONTAINER.fullmatch(name) for name in (*made, *blanks)):
        raise ValueError("it names a part of the settings that is not of hooks")
    return Merged(entries, tuple(made), blanks)


def _text(value: object) -> str:
    """A text that a path can be made of."""
    if not isinstance(value, str) or any(ord(char) < 32 or 0xD800 <= ord(char) < 0xE000 for char in value):
        raise ValueError(f"{value!r:.200} is not plain text")
    return value


def _blank(value: object) -> str:
    """A text of blanks."""
    if not isinstance(value, str) or not _BLANK.fullmatch(value):
        raise ValueError("what stood between brackets is not blank")
    return value


def _texts(values: object) -> list[str]:
    if not isinstance(values, list):
        raise ValueError(f"{values!r:.200} is no list")
    return [_text(value) for value in values]


def _file(name: object, place: Places, names: Iterable[str]) -> str:
    """The path of a file that a manifest means. ValueError for one that is never put there for this host."""
    path = _path(name, place)
    folder, own = os.path.split(path)
    if path == place.hooks or (place.roles and folder == place.roles and own in roles.files(place.host)):
        return path
    if any(path.startswith(os.path.join(place.skills, skill) + os.sep) for skill in names):
        return path
    raise _misplaced(name, place)


def _settings(name: str, place: Places) -> str:
    path = _path(name, place)
    if path != place.hooks or not _is_settings(place):
        raise _misplaced(name, place)
    return path


def _folders(names: object, place: Places) -> tuple[str, ...]:
    """The folders that a manifest means: those of skills and roles, what is below them, and what leads to them."""
    found = []
    for name in _texts(names):
        path = _path(name, place)
        above = (place.skills, place.roles, os.path.dirname(place.hooks))
        inside = any(root and path.startswith(root + os.sep) for root in (place.skills, place.roles))
        if not inside and not any(root and (root + os.sep).startswith(path + os.sep) for root in above):
            raise _misplaced(name, place)
        found.append(path)
    return tuple(found)


def _path(name: object, place: Places) -> str:
    path = os.path.join(place.bases[0], _text(name)) if place.scope == "project" else _text(name)
    raw = os.fsencode(path)
    if len(raw) > _LONGEST or any(len(part) > _LONGEST_NAME for part in raw.split(b"/")):
        raise ValueError(f"{name!r:.80}… is too long for a path")
    if os.path.normpath(path) != path:
        raise _misplaced(name, place)
    return path


def _misplaced(name: object, place: Places) -> ValueError:
    return ValueError(f"nothing of {place.host} belongs at {name!r:.200}")


def _is_settings(place: Places) -> bool:
    """Whether the hooks are entries in a settings file, and no file of their own."""
    return place.hooks.endswith(".json")


def _skill_of(path: str, place: Places) -> str:
    """The skill that a file is of; empty where it is of none."""
    inside = path.startswith(place.skills + os.sep)
    return os.path.relpath(path, place.skills).split(os.sep)[0] if inside else ""


def _stored(path: str, place: Places) -> str:
    return os.path.relpath(path, place.bases[0]).replace(os.sep, "/") if place.scope == "project" else path


def _stored_source(path: str, place: Places) -> str:
    inside = place.scope == "project" and path.startswith(place.bases[0] + os.sep)
    return _stored(path, place) if inside else path


def _source(name: str, place: Places) -> str:
    return name if os.path.isabs(name) else os.path.join(place.bases[0], name)
