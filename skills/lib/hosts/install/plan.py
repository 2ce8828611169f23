"""The plan of an installation, made before anything is changed: each file with what happens to it and why."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from shlex import join

from skills.lib.errors import RefusedError
from skills.lib.hosts.install import allowing, hooks, installed_skill, roles, runtime, source
from skills.lib.hosts.install.changes import (
    ADD,
    DELETE,
    EDIT,
    FOREIGN,
    KEEP,
    RESTORE,
    SAME,
    SHARED,
    STUCK,
    UPDATE,
    Change,
    Plan,
    digest,
    edited_skills,
)
from skills.lib.hosts.install.disk import Disk
from skills.lib.hosts.install.locations import Locations
from skills.lib.hosts.install.manifest import Manifest, OtherInstall

# The ends of the names of files that Python would load.
_CODE = (".py", ".pyc", ".so", ".pyd")


@dataclass(slots=True)
class _Draft:
    """A plan in the making.

    ``wanted`` has the skills, hooks and stops that are to be. ``forced`` are files that may be replaced or removed
    anyway (None: all).
    """

    place: Locations
    old: Manifest
    wanted: Manifest
    others: list[OtherInstall]
    forced: frozenset[str] | None
    changes: list[Change] = field(default_factory=list)
    files: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def disk(self) -> Disk:
        return Disk(self.place.bases)

    def is_forced(self, path: str) -> bool:
        return self.forced is None or path in self.forced

    def is_ours(self, path: str, content: bytes) -> bool:
        """True if a file is as an installation wrote it, this one or another that shares it."""
        mine = self.old.files.get(path, ())
        theirs = [one for other in self.sharing(path) for one in other.manifest.files[path]]
        return digest(content) in {*mine, *theirs}

    def sharing(self, path: str) -> list[OtherInstall]:
        """The other installations that have a file."""
        return [other for other in self.others if not other.manifest.uninstalled and path in other.manifest.files]

    def note(self, action: str, path: str, what: str, why: str = "", data: bytes | None = None) -> None:
        self.changes.append(Change(action, path, what, why, data))

    def plan(self, then: Manifest | None) -> Plan:
        changes = tuple(sorted(self.changes, key=lambda change: (change.path, change.what)))
        return Plan(self.place, changes, then, self.old if self.old.version else None)


def to_install(
    place: Locations,
    wanted: Manifest,
    old: Manifest | None,
    others: list[OtherInstall],
    forced: frozenset[str] | None = frozenset(),
    looks: bool = False,
) -> Plan:
    """The plan of an installation over whatever there is, with the skills, hooks and stops of ``wanted``.

    A plan that only ``looks`` runs no code of other skills than Lockstep's: their seals are compared with the manifest.
    Raises RefusedError for a link or another odd thing in the way, before anything is changed.
    """
    draft = _Draft(place, old or Manifest(place.host, place.scope), wanted, others, forced)
    files = desired(place, wanted, looks)
    for path, (what, data) in files.items():
        _put(draft, path, what, data)
    for path in draft.old.files.keys() - files.keys():
        skill = place.skill_of(path)
        if (
            path.endswith(source.SEAL)
            and skill in wanted.skills
            and (looks or skill in edited_skills(draft.changes, draft.files))
        ):
            _compare(draft, path)
        else:
            _drop(draft, path, "no longer part of it")
    for path in _beside(draft, wanted.skills):
        if path.endswith(_CODE):
            draft.note(FOREIGN, path, _what(place, path), "no part of the installation")
    entries, rules = _merge(draft, allowing.scripts(files) if wanted.allow else [])
    is_made = (
        draft.old.made
        or any(change.path == place.hooks and change.action == ADD for change in draft.changes)
        or any(other.place.hooks == place.hooks and other.manifest.made for other in others)
    )
    then = replace(
        wanted,
        version=runtime.version(),
        skills=dict(sorted(wanted.skills.items())),
        files=dict(sorted(draft.files.items())),
        entries=entries,
        made=bool(entries or rules) and is_made,
        rules=rules,
        complete=True,
        uninstalled=False,
    )
    return draft.plan(then)


def to_uninstall(
    place: Locations, old: Manifest, others: list[OtherInstall], forced: frozenset[str] | None = frozenset()
) -> Plan:
    """The plan of taking away everything that was installed.

    What the user changed stays, unless ``forced``, and so do settings that cannot be edited; the manifest then says so.
    """
    draft = _Draft(place, old, replace(old, skills={}, hooks=False), others, forced)
    for path in old.files:
        _drop(draft, path, "")
    for path in _beside(draft, old.skills):
        if path.endswith(source.SEAL) and source.is_seal(path) and not _is_in_others_skill(draft, path):
            draft.note(DELETE, path, _what(place, path), "a seal, which lockstep validate --seal wrote")
    entries, rules = _merge(draft, [])
    left = replace(draft.wanted, files=draft.files, entries=entries, rules=rules, complete=True, uninstalled=True)
    return draft.plan(left if left.files or left.entries or left.rules else None)


def desired(place: Locations, wanted: Manifest, looks: bool = False) -> dict[str, tuple[str, bytes]]:
    """Every whole file of an installation by path: what it is, and its content; see ``to_install`` for ``looks``."""
    found: dict[str, tuple[str, bytes]] = {}
    named: set[str] = set()
    for name, folder in wanted.skills.items():
        source.check_name(name)
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
        files = installed_skill.contents(folder, runtime.version())
        if not looks and not source.is_shipped(folder):
            files |= source.seals(folder, source.files(folder))
        for path, data in files.items():
            found[os.path.join(target, *path.split("/"))] = (f"skill {name}", data)
        named |= installed_skill.dispatched_roles(folder)
    for name, data in (roles.definitions(place.host, named) if place.roles else {}).items():
        found[os.path.join(place.roles, name)] = (f"role {name.partition('.')[0]}", data)
    scripts = allowing.scripts(found) if wanted.allow else []
    if place.hooks and wanted.hooks and not place.is_merged:
        found[place.hooks] = ("hooks", hooks.plugin(wanted.stops, allowing.patterns(scripts)))
    if place.rules and scripts:
        found[place.rules] = ("rules", allowing.file_of(place.host, scripts))
    return dict(sorted(found.items()))


def _put(draft: _Draft, path: str, what: str, data: bytes) -> None:
    """Note what happens to a file that is wanted."""
    current, known = draft.disk.read(path), path in draft.old.files
    draft.files[path] = (digest(data),)
    if current == data:
        draft.note(SAME, path, what)
    elif current is None:
        draft.note(RESTORE if known else ADD, path, what, "it was removed" if known else "", data)
    elif draft.is_ours(path, current) or draft.is_forced(path):
        draft.note(UPDATE, path, what, "", data)
    else:
        draft.note(KEEP, path, what, "changed by you" if known else "yours, and no part of an installation")
        if known:
            draft.files[path] = draft.old.files[path]
        else:
            del draft.files[path]


def _drop(draft: _Draft, path: str, why: str) -> None:
    """Note what happens to a file that is not wanted any more."""
    current, what = draft.disk.read(path), _what(draft.place, path)
    if draft.sharing(path):
        draft.note(SHARED, path, what, "another host uses it")
    elif _is_in_others_skill(draft, path):
        draft.note(SHARED, path, what, "a skill that another host uses")
        draft.files[path] = draft.old.files[path]
    elif current is None or draft.is_ours(path, current) or draft.is_forced(path):
        draft.note(DELETE, path, what, why) if current is not None else None
    else:
        draft.note(KEEP, path, what, "changed by you")
        draft.files[path] = draft.old.files[path]


def _beside(draft: _Draft, skills: Iterable[str]) -> Iterator[str]:
    """The files in the folders of these skills that no installation wrote, in order; no link is followed."""
    known = {*draft.files, *draft.old.files, *(path for other in draft.others for path in other.manifest.files)}
    for skill in sorted(skills):
        for place, folders, names in os.walk(os.path.join(draft.place.skills, skill)):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            yield from (path for name in sorted(names) if (path := os.path.join(place, name)) not in known)


def _compare(draft: _Draft, path: str) -> None:
    """Note how a seal compares with the one that was written; what would be written now is not known."""
    current, what = draft.disk.read(path), _what(draft.place, path)
    draft.files[path] = draft.old.files[path]
    if current is None:
        draft.note(RESTORE, path, what, "it was removed")
    else:
        draft.note(*((SAME, path, what) if draft.is_ours(path, current) else (KEEP, path, what, "changed by you")))


def _is_in_others_skill(draft: _Draft, path: str) -> bool:
    """True if a file is in a skill that another host uses and this one no longer does: it may be the user's version.

    The record of it stays ours until the skill is nobody's.
    """
    for other in draft.others:
        for skill in () if other.manifest.uninstalled else other.manifest.skills:
            inside = path.startswith(os.path.join(other.place.skills, skill) + os.sep)
            if inside and not (skill in draft.wanted.skills and other.place.skills == draft.place.skills):
                return True
    return False


def _merge(draft: _Draft, scripts: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Note what happens to the settings file, if the host has one.

    Returns the digests of our hooks in it, and our entries by which these scripts run without a question.
    """
    wanted = allowing.entries(draft.place.host, scripts)
    if not draft.place.is_merged:
        return {}, ()
    if not draft.wanted.hooks and not wanted:
        return _unmerge(draft)
    path = draft.place.hooks
    data = draft.disk.read(path)
    try:
        to_come, rules = allowing.merged(path, data, wanted, draft.old)
        entries, yours = dict[str, str](), list[str]()
        if draft.wanted.hooks:
            to_come, entries, yours = hooks.merged(
                path, to_come, draft.place.host, draft.wanted.stops, draft.old.entries, draft.is_forced(path)
            )
        elif data is not None and to_come is not None:
            to_come, _ = hooks.unmerged(path, to_come, draft.place.host)
    except RefusedError as error:
        raise RefusedError(error.what, remedy=_without_hooks(draft)) from error
    action = SAME if to_come == data else ADD if data is None else EDIT
    why = "entries of Lockstep are put in" if action == EDIT else ""
    draft.note(action, path, "hooks" if draft.wanted.hooks else "rules", why, None if action == SAME else to_come)
    for event in yours:
        draft.note(KEEP, path, f"hook {event}", "changed by you")
    return entries, rules


def _unmerge(draft: _Draft) -> tuple[dict[str, str], tuple[str, ...]]:
    """Note that our entries are taken out, unless another scope uses them or the file cannot be edited any more.

    Returns what of them stays ours, as ``_merge`` does.
    """
    path, old = draft.place.hooks, draft.old
    data = draft.disk.read(path)
    if not (old.entries or old.rules) or data is None:
        return {}, ()
    if any(other.place.hooks == path and (other.manifest.entries or other.manifest.rules) for other in draft.others):
        draft.note(SHARED, path, "hooks", "the other scope uses it")
        return {}, ()
    try:
        without, _ = allowing.merged(path, data, (), old)
        left, is_used = hooks.unmerged(path, without or data, draft.place.host)
    except RefusedError as error:
        if hooks.PROGRAM[-1].encode() not in data and not any(json.dumps(one).encode() in data for one in old.rules):
            return {}, ()
        draft.note(STUCK, path, "hooks", str(error.__cause__ or "it is no plain JSON of hooks"))
        return old.entries, old.rules
    if old.made and not is_used:
        draft.note(DELETE, path, "hooks", "nothing else is in it")
    elif left != data:
        draft.note(EDIT, path, "hooks", "entries of Lockstep are taken out", left)
    return {}, ()


def _without_hooks(draft: _Draft) -> str:
    """What a user can do if the settings cannot be edited."""
    place = draft.place
    named = [word for name in sorted(draft.wanted.skills) for word in ("--skill", name)] if draft.old.version else []
    words = ["lockstep", "install", place.host, "--scope", place.scope, *named, "--no-hooks"]
    words += ["--no-allow"] if draft.wanted.allow and allowing.entries(place.host, ["x"]) else []
    entries = hooks.new_entries(place.host, draft.wanted.stops)
    added = json.dumps({"hooks": {event: [entry] for event, entry in entries.items()}})
    return f"make it plain JSON; or go without hooks: {join(words)}; then you may add by hand: {added}"


def _what(place: Locations, path: str) -> str:
    if path == place.hooks:
        return "hooks"
    if path == place.rules:
        return "rules"
    if place.roles and path.startswith(place.roles + os.sep):
        return f"role {os.path.basename(path).partition('.')[0]}"
    return f"skill {place.skill_of(path)}"
