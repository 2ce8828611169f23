"""Puts skills, role definitions and hooks where a host looks for them, and takes them away again."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass

from skills.lib.errors import LockstepError
from skills.lib.hosts import export
from skills.lib.hosts.install import applying, hooks, manifest, planning
from skills.lib.hosts.install.disk import Disk
from skills.lib.hosts.install.planning import Change, Plan, Wish
from skills.lib.hosts.install.record import Manifest
from skills.lib.hosts.places import Places

# Told of each file that stays because the user changed it: the paths to replace or remove all the same; None: all.
Choose = Callable[[list[Change]], frozenset[str] | None]
# What a plan does to a file, as the state that the file is in.
_STATES = {
    planning.SAME: "current",
    planning.SHARED: "current",
    planning.UPDATE: "stale",
    planning.EDIT: "stale",
    planning.ADD: "stale",
    planning.DELETE: "stale",
    planning.RESTORE: "missing",
    planning.KEEP: "changed",
    planning.STUCK: "stuck",
}
# From the worst to the best.
_ORDER = ("unknown", "missing", "stuck", "changed", "kept", "stale", "current")


@dataclass(frozen=True, slots=True)
class Entry:
    """One installed file: its path, what it is, and whether it is current, changed, missing, stale, kept or stuck.

    Kept is what stayed at an uninstallation because the user had changed it, stuck a settings file that hooks were to
    be taken out of and that is no plain JSON.
    """

    path: str
    what: str
    state: str


@dataclass(frozen=True, slots=True)
class Installed:
    """What is installed for a host in a scope.

    ``problem`` says why its files could not be compared, and ``remedy`` what to do.
    """

    told: Manifest
    entries: tuple[Entry, ...]
    problem: str = ""
    remedy: str = ""

    @property
    def state(self) -> str:
        """The worst state of all files: interrupted, unknown, missing, stuck, changed, kept, stale or current."""
        if self.told.intended is not None:
            return "interrupted"
        found = {entry.state for entry in self.entries} | ({"unknown"} if self.problem else set())
        return next(state for state in _ORDER if state in found | {"current"})


def install(
    place: Places,
    project: str,
    skills: Mapping[str, str],
    hooks: bool | None = None,
    stops: int | None = None,
    choose: Choose | None = None,
    dry_run: bool = False,
) -> Plan:
    """Install skills (name -> folder) for a host, with what is installed there already, and return what was done.

    ``hooks`` and ``stops`` are as they were where None is given, at first and after an uninstallation True and 3.
    """
    with nullcontext() if dry_run else manifest.locked(place):
        old = manifest.read(place) if dry_run else applying.recover(place)
        told = Manifest(place.host, place.scope) if old is None or old.uninstalled else old
        wish = Wish(
            dict(skills),
            told.hooks if hooks is None else hooks,
            told.stops if stops is None else stops,
        )
        others = manifest.others(place, project)
        plan = planning.to_install(place, wish, old, others)
        forced = choose(plan.kept()) if choose is not None and plan.kept() else frozenset()
        if forced is None or forced:
            plan = planning.to_install(place, wish, old, others, forced)
        if not dry_run:
            applying.apply(plan)
        return plan


def uninstall(place: Places, project: str, choose: Choose | None = None, dry_run: bool = False) -> Plan | None:
    """Take away what is installed for a host, and what was kept before; return what was done.

    None where neither is there.
    """
    with nullcontext() if dry_run else manifest.locked(place):
        old = manifest.read(place) if dry_run else applying.recover(place)
        if old is None:
            return None
        others = manifest.others(place, project)
        plan = planning.to_uninstall(place, old, others)
        forced = choose(plan.kept()) if choose is not None and plan.kept() else frozenset()
        if forced is None or forced:
            plan = planning.to_uninstall(place, old, others, forced)
        if not dry_run:
            applying.apply(plan)
        return plan


def inspect(place: Places, project: str, skills: Mapping[str, str]) -> Installed | None:
    """How what is installed for a host compares with what was put there and with what would be put there now.

    ``skills`` has the skills that are found now. None where nothing is installed and nothing was kept; nothing is
    changed, and no code is run but Lockstep's own.
    """
    told = manifest.read(place)
    if told is None:
        return None
    wish = Wish(sources(told, skills), told.hooks, told.stops)
    try:
        others = manifest.others(place, project)
        if told.uninstalled:
            return _kept(told, planning.to_uninstall(place, told, others))
        plan = planning.to_install(place, wish, told, others, looks=True)
    except LockstepError as error:
        return Installed(told, (), error.what, error.remedy)
    entries = [Entry(change.path, change.what, _STATES[change.action]) for change in plan.changes]
    return Installed(told, tuple(_with_hooks(place, told, entries)))


def sources(told: Manifest, skills: Mapping[str, str]) -> dict[str, str]:
    """Where each installed skill is to be taken from now; one that is found no more is left out.

    ``skills`` has the skills that are found now. A skill of Lockstep's is taken from this version, any other from where
    it was taken first: a user's skill is no other project's that has the same name.
    """
    found = {}
    for name, folder in told.skills.items():
        of_a_lockstep = os.path.isfile(os.path.join(os.path.dirname(folder), "bootstrap.py"))
        if os.path.isfile(os.path.join(folder, "SKILL.md")) and not of_a_lockstep:
            found[name] = folder
        elif name in skills and (told.scope == "project" or export.is_shipped(skills[name])):
            found[name] = skills[name]
    return found


def _kept(told: Manifest, plan: Plan) -> Installed | None:
    """What an uninstallation kept and still is there."""
    left = [change for change in plan.changes if change.action not in (planning.SHARED, planning.SAME)]
    entries = tuple(Entry(change.path, change.what, "kept") for change in left)
    return Installed(told, entries) if entries or told.intended is not None else None


def _with_hooks(place: Places, told: Manifest, entries: list[Entry]) -> list[Entry]:
    """The entries, with that of a settings file told as missing where entries of hooks were taken out of it."""
    if not told.hooks or place.hooks not in told.merged:
        return entries
    data = Disk(place.bases).read(place.hooks)
    _, text = planning.text_of(place.hooks, data)
    states = hooks.state(place.hooks, text, place.host, told.merged[place.hooks].entries)
    if "missing" not in states.values():
        return entries
    return [
        Entry(entry.path, entry.what, "missing") if (entry.path, entry.what) == (place.hooks, "hooks") else entry
        for entry in entries
    ]
