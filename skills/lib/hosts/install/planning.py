"""What an installation would change, worked out before anything is: each file with what happens to it and why."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from shlex import join

from skills import __version__
from skills.lib.errors import RefusedError
from skills.lib.hosts import export
from skills.lib.hosts.install import hooks, roles
from skills.lib.hosts.install.disk import Disk
from skills.lib.hosts.install.manifest import Neighbour
from skills.lib.hosts.install.record import Manifest, Merged
from skills.lib.hosts.places import Places

# What happens to a file; the first five change it, the others leave it. Settings of the user's are edited.
ADD, UPDATE, EDIT, DELETE, RESTORE = "add", "update", "edit", "delete", "restore"
SAME, KEEP, SHARED = "same", "keep", "shared"
# A settings file that our entries cannot be taken out of, for it is not plain JSON any more.
STUCK = "stuck"
CHANGING = frozenset({ADD, UPDATE, EDIT, DELETE, RESTORE})


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be installed: skills by name with their folders, and whether and how hooks are."""

    skills: Mapping[str, str]
    hooks: bool = True
    stops: int = 3


@dataclass(frozen=True, slots=True)
class Change:
    """One file: what happens to it, what it is, and why it is so. ``data`` is what is to stand there."""

    action: str
    path: str
    what: str
    why: str = ""
    data: bytes | None = None
    was: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """Every change, in the order of paths, the folders to be made, and the manifest as it will be (None: none)."""

    place: Places
    changes: tuple[Change, ...]
    folders: tuple[str, ...]
    then: Manifest | None
    before: Manifest | None = None

    def kept(self) -> list[Change]:
        """The files that stay as the user has them, against what was asked for."""
        return [change for change in self.changes if change.action == KEEP]

    def stuck(self) -> list[Change]:
        """The settings files that stay because they cannot be edited."""
        return [change for change in self.changes if change.action == STUCK]

    def is_empty(self) -> bool:
        """Whether nothing would change on the disk."""
        return not any(change.action in CHANGING for change in self.changes)


@dataclass(slots=True)
class _Draft:
    """A plan in the making."""

    place: Places
    disk: Disk
    old: Manifest
    others: list[Neighbour]
    shared: dict[str, set[str]]
    forced: frozenset[str] | None
    wanted: frozenset[str] = frozenset()
    changes: list[Change] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    merged: dict[str, Merged] = field(default_factory=dict)

    def is_forced(self, path: str) -> bool:
        """Whether the user said that this file may be replaced or removed."""
        return self.forced is None or path in self.forced


def to_install(
    place: Places,
    wish: Wish,
    old: Manifest | None,
    others: list[Neighbour],
    forced: frozenset[str] | None = frozenset(),
    looks: bool = False,
) -> Plan:
    """The plan of an installation over whatever there is; ``forced`` are files to replace anyway (None: all).

    A plan that only ``looks`` runs no code of other skills than Lockstep's: their seals are compared with the manifest.
    Raises RefusedError for a link or another odd thing in the way, before anything is changed.
    """
    draft = _draft(place, old, others, forced, frozenset(wish.skills))
    wanted = desired(place, wish, looks)
    for path, (what, data) in wanted.items():
        _put(draft, path, what, data)
    for path, digest in draft.old.files.items():
        if looks and path.endswith(export.SEAL) and _is_of_others(draft, wish, path):
            _compare(draft, path, digest)
        elif path not in wanted:
            _drop(draft, path, digest, "no longer part of it")
    if place.hooks and is_merged(place):
        _merge(draft, wish)
    then = Manifest(
        place.host,
        place.scope,
        __version__,
        dict(sorted(wish.skills.items())),
        wish.hooks,
        wish.stops,
        dict(sorted(draft.files.items())),
        draft.merged,
    )
    return _plan(draft, then)


def to_uninstall(
    place: Places, old: Manifest, others: list[Neighbour], forced: frozenset[str] | None = frozenset()
) -> Plan:
    """The plan of taking everything away that was installed.

    What the user changed stays, unless ``forced``, and so do settings that cannot be edited; the manifest then says so.
    """
    draft = _draft(place, old, others, forced)
    for path, digest in old.files.items():
        _drop(draft, path, digest, "")
    if place.hooks and is_merged(place):
        _unmerge(draft)
    left = Manifest(place.host, place.scope, __version__, hooks=False, uninstalled=True)
    left = replace(left, files=draft.files, merged=draft.merged)
    return _plan(draft, left if left.files or left.merged else None)


def desired(place: Places, wish: Wish, looks: bool = False) -> dict[str, tuple[str, bytes]]:
    """Every whole file of an installation by path: what it is, and its content; see ``to_install`` for ``looks``."""
    found: dict[str, tuple[str, bytes]] = {}
    for name, folder in wish.skills.items():
        export.check_name(name)
        target = os.path.join(place.skills, name)
        if os.path.islink(target):
            raise RefusedError(
                f"{target} is a link, and is neither followed nor replaced", remedy="remove the link first"
            )
        if os.path.realpath(folder) == os.path.realpath(target):
            raise RefusedError(
                f"the skill {name} would be installed over itself: {target} is where it is taken from",
                remedy="keep its source in another folder, such as skills/; the host finds it where it is already",
            )
        for path, data in export.contents(folder, sealed=not looks or export.is_shipped(folder)).items():
            found[os.path.join(target, *path.split("/"))] = (f"skill {name}", data)
    for name, data in (roles.definitions(place.host) if place.roles else {}).items():
        found[os.path.join(place.roles, name)] = (f"role {name.partition('.')[0]}", data)
    if place.hooks and wish.hooks and not is_merged(place):
        found[place.hooks] = ("hooks", hooks.plugin(wish.stops))
    return dict(sorted(found.items()))


def is_merged(place: Places) -> bool:
    """Whether the host's hooks are entries in a settings file, and no file of their own."""
    return place.hooks.endswith(".json")


def digest(data: bytes) -> str:
    """The digest of a file's content, as manifests have it."""
    return hashlib.sha256(data).hexdigest()


def text_of(path: str, data: bytes | None) -> tuple[str, str | None]:
    """A settings file's byte order mark (or none) and its text; RefusedError for other than UTF-8."""
    if data is None:
        return "", None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise RefusedError(f"{path} is not UTF-8 text", remedy=hooks.PLAIN) from None
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    return mark, text.removeprefix(mark)


def _draft(
    place: Places,
    old: Manifest | None,
    others: list[Neighbour],
    forced: frozenset[str] | None,
    wanted: frozenset[str] = frozenset(),
) -> _Draft:
    shared: dict[str, set[str]] = {}
    for other in others:
        for path, told in () if other.told.uninstalled else other.told.files.items():
            shared.setdefault(path, set()).add(told)
    mine = old or Manifest(place.host, place.scope)
    return _Draft(place, Disk(place.bases), mine, others, shared, forced, wanted)


def _put(draft: _Draft, path: str, what: str, data: bytes) -> None:
    """What happens to a file that is to stand there."""
    current, new = draft.disk.read(path), digest(data)
    known = {draft.old.files.get(path, ""), *draft.shared.get(path, ())}
    draft.files[path] = new
    if current is None:
        again = path in draft.old.files
        change = Change(RESTORE if again else ADD, path, what, "it was removed" if again else "", data)
    elif digest(current) == new:
        change = Change(SAME, path, what)
    elif digest(current) in known:
        change = Change(UPDATE, path, what, "", data, digest(current))
    elif draft.is_forced(path):
        change = Change(UPDATE, path, what, "your version is replaced", data, digest(current))
    else:
        ours = path in draft.old.files or path in draft.shared
        change = Change(KEEP, path, what, "changed by you" if ours else "yours, and no part of an installation")
        del draft.files[path]
        if path in draft.old.files:
            draft.files[path] = draft.old.files[path]
    draft.changes.append(change)


def _drop(draft: _Draft, path: str, told: str, why: str) -> None:
    """What happens to a file that is to be there no more."""
    current = draft.disk.read(path)
    what = _what(draft, path)
    if current is None:
        return
    known = {told, *draft.shared.get(path, ())}
    if path in draft.shared:
        change = Change(SHARED, path, what, "another host uses it")
    elif _is_of_neighbours(draft, path):
        change = Change(SHARED, path, what, "a skill that another host uses")
        draft.files[path] = told
    elif digest(current) in known or draft.is_forced(path):
        change = Change(DELETE, path, what, why, None, digest(current))
    else:
        change = Change(KEEP, path, what, "changed by you")
        draft.files[path] = told
    draft.changes.append(change)


def _is_of_neighbours(draft: _Draft, path: str) -> bool:
    """Whether a file lies in a skill that we want no more and another host does: its file may be the user's version.

    The record of it stays ours until the skill is nobody's.
    """
    for other in draft.others:
        for skill in () if other.told.uninstalled else other.told.skills:
            inside = path.startswith(os.path.join(other.place.skills, skill) + os.sep)
            if inside and not (skill in draft.wanted and other.place.skills == draft.place.skills):
                return True
    return False


def _compare(draft: _Draft, path: str, told: str) -> None:
    """How a file stands to what was put there; what would be put there now is not known."""
    current = draft.disk.read(path)
    if current is None:
        change = Change(RESTORE, path, _what(draft, path), "it was removed")
    elif digest(current) in {told, *draft.shared.get(path, ())}:
        change = Change(SAME, path, _what(draft, path))
    else:
        change = Change(KEEP, path, _what(draft, path), "changed by you")
    draft.changes.append(change)


def _is_of_others(draft: _Draft, wish: Wish, path: str) -> bool:
    """Whether a file is of a wanted skill that is not Lockstep's."""
    name = os.path.relpath(path, draft.place.skills).split(os.sep)[0]
    return name in wish.skills and not export.is_shipped(wish.skills[name])


def _merge(draft: _Draft, wish: Wish) -> None:
    """What happens to the settings file."""
    if not wish.hooks:
        _unmerge(draft)
        return
    path = draft.place.hooks
    data = draft.disk.read(path)
    told = [draft.old.merged.get(path, Merged({})), *_merged_by_neighbours(draft, path)]
    made = tuple(dict.fromkeys(name for one in reversed(told) for name in one.made))
    blanks = {name: blank for one in told for name, blank in one.blanks.items()}
    try:
        mark, text = text_of(path, data)
        found = hooks.merged(
            path, text, draft.place.host, wish.stops, Merged(told[0].entries, made, blanks), draft.is_forced(path)
        )
    except RefusedError as error:
        raise RefusedError(error.what, remedy=_without_hooks(draft)) from error
    draft.merged[path] = Merged(found.entries, found.made, found.blanks)
    _settle(draft, path, data, (mark + found.text).encode(), "entries of Lockstep are put in")
    for event in found.yours:
        draft.changes.append(Change(KEEP, path, f"hook {event}", "changed by you"))


def _unmerge(draft: _Draft) -> None:
    """Our entries go, unless they are also another scope's, or the file cannot be edited any more."""
    path = draft.place.hooks
    if path not in draft.old.merged:
        return
    if _merged_by_neighbours(draft, path):
        draft.changes.append(Change(SHARED, path, "hooks", "the other scope uses it"))
        return
    data, told = draft.disk.read(path), draft.old.merged[path]
    if data is None:
        return
    try:
        mark, text = text_of(path, data)
        left = hooks.unmerged(path, text or "", draft.place.host, told)
    except RefusedError as error:
        if hooks.are_in(data):
            draft.changes.append(Change(STUCK, path, "hooks", str(error.__cause__ or "it is no plain JSON of hooks")))
            draft.merged[path] = told
        return
    if left is None:
        draft.changes.append(Change(DELETE, path, "hooks", "nothing else is in it", None, digest(data)))
    else:
        _settle(draft, path, data, (mark + left).encode(), "entries of Lockstep are taken out")


def _merged_by_neighbours(draft: _Draft, path: str) -> list[Merged]:
    """What other installations have merged into a settings file: the other scope's, where the project is the home."""
    told = [other.told for other in draft.others if not other.told.uninstalled]
    return [one.merged[path] for one in told if path in one.merged]


def _without_hooks(draft: _Draft) -> str:
    """What a user does whose settings cannot be edited."""
    place, skills = draft.place, sorted(draft.wanted)
    named = [word for name in skills for word in ("--skill", name)] if draft.old.version else []
    scope = ["--scope", place.scope] if place.scope != "project" else []
    words = ["lockstep", "install", place.host, *scope, *named, "--no-hooks"]
    return f"make it plain JSON; or go without hooks: {join(words)}"


def _settle(draft: _Draft, path: str, data: bytes | None, new: bytes, why: str) -> None:
    if data == new:
        change = Change(SAME, path, "hooks")
    elif data is None:
        change = Change(ADD, path, "hooks", "", new)
    else:
        change = Change(EDIT, path, "hooks", why, new, digest(data))
    draft.changes.append(change)


def _plan(draft: _Draft, then: Manifest | None) -> Plan:
    """The finished plan; every folder to be made is found, and every one on the way looked at."""
    folders: list[str] = []
    for change in draft.changes:
        if change.data is not None:
            folders += [folder for folder in draft.disk.missing_folders(change.path) if folder not in folders]
    if then is not None:
        # A folder that another host's installation made belongs to all who have something in it.
        theirs = [folder for other in draft.others for folder in other.told.folders]
        shared = [folder for folder in theirs if any(path.startswith(folder + os.sep) for path in then.files)]
        again = _found_again(draft) if not draft.old.version else ()
        then = replace(then, folders=tuple(sorted({*draft.old.folders, *folders, *shared, *again})))
    changes = tuple(sorted(draft.changes, key=lambda change: (change.path, change.what)))
    return Plan(draft.place, changes, tuple(folders), then, draft.old if draft.old.version else None)


def _found_again(draft: _Draft) -> list[str]:
    """The folders that hold nothing but files of this plan: an installation whose record is lost made them."""
    ours = {change.path for change in draft.changes if change.action in (SAME, UPDATE)}
    around: set[str] = set()
    for path in ours:
        folder = os.path.dirname(path)
        while folder not in (*draft.disk.bases, *around) and os.path.dirname(folder) != folder:
            around.add(folder)
            folder = os.path.dirname(folder)
    found: set[str] = set()
    for folder in sorted(around, key=len, reverse=True):
        names = [name for name in draft.disk.names(folder) if name != "__pycache__"]
        if all(path in ours or path in found for path in (os.path.join(folder, name) for name in names)):
            found.add(folder)
    return sorted(found)


def _what(draft: _Draft, path: str) -> str:
    place = draft.place
    if path == place.hooks:
        return "hooks"
    if place.roles and path.startswith(place.roles + os.sep):
        return f"role {os.path.basename(path).partition('.')[0]}"
    return f"skill {os.path.relpath(path, place.skills).split(os.sep)[0]}"
