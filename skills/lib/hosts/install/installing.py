"""Installs skills, role definitions and hooks for a host, compares them, and uninstalls them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace

from skills.lib.errors import LockstepError
from skills.lib.hosts.install import allowing, applying, changes, manifest, plan, runtime, source
from skills.lib.hosts.install import hooks as hook_entries
from skills.lib.hosts.install.changes import Change, Plan
from skills.lib.hosts.install.disk import Disk
from skills.lib.hosts.install.locations import Locations
from skills.lib.hosts.install.manifest import Manifest

# Asked about the files that stay because the user changed them: the paths to replace or remove anyway; None: all.
Choose = Callable[[list[Change]], frozenset[str] | None]
# From the worst to the best.
_ORDER = ("unknown", "missing", "stuck", "changed", "kept", "foreign", "stale", "current")


@dataclass(frozen=True, slots=True)
class Installed:
    """What is installed for a host in a scope.

    ``files`` has each installed file, with what an installation now would do to it. ``problem`` says why they could not
    be compared, and ``remedy`` what to do.
    """

    manifest: Manifest
    files: tuple[Change, ...]
    problem: str = ""
    remedy: str = ""

    @property
    def state(self) -> str:
        """The worst state of all files: interrupted, or the first of ``_ORDER`` that one of them has."""
        if not self.manifest.complete:
            return "interrupted"
        found = {file.state for file in self.files} | ({"unknown"} if self.problem else set())
        return next(state for state in _ORDER if state in found | {"current"})


def install(
    place: Locations,
    project: str,
    skills: Mapping[str, str],
    hooks: bool | None = None,
    stops: int | None = None,
    choose: Choose | None = None,
    dry_run: bool = False,
    allow: bool | None = None,
) -> Plan:
    """Install skills (name -> folder) for a host, with what is installed there already, and return what was done.

    ``hooks``, ``stops`` and ``allow`` stay as they were if they are None, at first and after an uninstallation True, 3
    and False. The runtime is made first. Skills of which the user changed a file are sealed again; SkillError if such a
    graph is not valid: all else is done then. UsageError for ``allow`` if the host takes no such rule there.
    """
    allowing.check(place, allow)
    with nullcontext() if dry_run else manifest.locked(place):
        old, others = manifest.read(place) or _foreign(place), manifest.others(place, project)
        was = Manifest(place.host, place.scope) if old is None or old.uninstalled else old
        wanted = replace(
            was,
            skills=dict(skills),
            hooks=was.hooks if hooks is None else hooks,
            stops=was.stops if stops is None else stops,
            allow=allowing.is_possible(place) and (was.allow if allow is None else allow),
        )
        chosen = _chosen(lambda forced: plan.to_install(place, wanted, old, others, forced), choose)
        if dry_run:
            return chosen
        runtime.ensure()
        applying.apply(chosen)
        return _sealed(chosen)


def uninstall(place: Locations, project: str, choose: Choose | None = None, dry_run: bool = False) -> Plan | None:
    """Remove what is installed for a host, and what was kept before; return what was done.

    None if neither is there.
    """
    with nullcontext() if dry_run else manifest.locked(place):
        old = manifest.read(place)
        if old is None:
            if not dry_run and not manifest.is_foreign(place):
                manifest.forget(place)  # what an installation left that was stopped at once
            return None
        others = manifest.others(place, project)
        chosen = _chosen(lambda forced: plan.to_uninstall(place, old, others, forced), choose)
        if not dry_run:
            applying.apply(chosen)
        return chosen


def inspect(place: Locations, project: str, skills: Mapping[str, str]) -> Installed | None:
    """How what is installed for a host compares with what was put there and with what would be put there now.

    ``skills`` has the skills that are found now. None if nothing is installed and nothing was kept; nothing is changed,
    and no code is run but Lockstep's own.
    """
    found = manifest.read(place)
    if found is None and manifest.is_foreign(place):
        return Installed(Manifest(place.host, place.scope, hooks=False), (), *manifest.foreign_note(place))
    if found is None:
        return None
    wanted = replace(found, skills=sources(found, skills))
    try:
        others = manifest.others(place, project)
        if found.uninstalled:
            return _kept(found, plan.to_uninstall(place, found, others))
        files = plan.to_install(place, wanted, found, others, looks=True).changes
    except LockstepError as error:
        return Installed(found, (), error.what, error.remedy)
    if found.hooks and found.entries and "missing" in hook_states(place, found).values():
        files = tuple(replace(file, action=changes.RESTORE) if file.what == "hooks" else file for file in files)
    return Installed(found, files)


def hook_states(place: Locations, found: Manifest) -> dict[str, str]:
    """Each event of the manifest, by its entry in the settings: current, changed or missing."""
    return hook_entries.states(place.hooks, Disk(place.bases).read(place.hooks), place.host, found.entries)


def hook_commands(place: Locations, found: Manifest) -> set[str]:
    """The commands by which a settings file calls the hook, as an installation wrote them."""
    return hook_entries.written(place.hooks, Disk(place.bases).read(place.hooks), place.host, found.entries)


def sources(found: Manifest, skills: Mapping[str, str]) -> dict[str, str]:
    """The folder that each installed skill is now taken from; a skill that is found no more is left out.

    ``skills`` has the skills that are found now. A skill of Lockstep is taken from this version, any other from the
    folder that it was taken from first: another project may have a skill of the same name.
    """
    kept = {}
    for name, folder in found.skills.items():
        of_a_lockstep = source.is_package(os.path.dirname(folder))
        if os.path.isfile(os.path.join(folder, "SKILL.md")) and not of_a_lockstep:
            kept[name] = folder
        elif name in skills and (found.scope == "project" or source.is_shipped(skills[name])):
            kept[name] = skills[name]
    return kept


def _foreign(place: Locations) -> Manifest | None:
    """What counts of a manifest that this machine did not write, when an installation takes its place.

    By the digests in it, files of another version are recognised. It says nothing of skills, hooks and stops.
    """
    found = manifest.read(place, foreign=True)
    if found is None:
        return None
    return Manifest(place.host, place.scope, found.version, files=found.files, made=found.made, uninstalled=True)


def _chosen(planned: Callable[[frozenset[str] | None], Plan], choose: Choose | None) -> Plan:
    """The plan, with the files that the user chose to have replaced or removed."""
    first = planned(frozenset())
    forced = choose(first.kept()) if choose is not None and first.kept() else frozenset()
    return first if forced == frozenset() else planned(forced)


def _kept(found: Manifest, left: Plan) -> Installed | None:
    """The files that an uninstallation kept and that are still there."""
    there = [change for change in left.changes if change.action not in (changes.SHARED, changes.SAME)]
    files = tuple(replace(change, action=changes.KEPT) for change in there)
    return Installed(found, files) if files or not found.complete else None


def _sealed(done: Plan) -> Plan:
    """Write a new seal for each workflow of which the user changed the graph or a text; the plan with these files.

    The workflows are validated first: raises InvalidWorkflow and its kin for a graph that is not valid.
    """
    place, then, found = done.place, done.then, dict[str, bytes]()
    assert then is not None
    for name in sorted(changes.edited_skills(done.changes, then.files) & then.skills.keys()):
        folder = os.path.join(place.skills, name)
        for path, data in source.seals(folder, source.files(folder)).items():
            shipped = os.path.join(source.package(), name, *path.split("/"))
            # The script finds a seal of the shipped skill there if it is the same.
            if not os.path.isfile(shipped) or source.read(shipped) != data:
                found[os.path.join(folder, *path.split("/"))] = data
    if not found:
        return done
    then = replace(then, files={**then.files, **{path: (changes.digest(data),) for path, data in found.items()}})
    if then != done.then:
        manifest.write(place, then)
    disk = Disk(place.bases)
    for path, data in found.items():
        if disk.read(path) != data:
            disk.put(path, data)
    return replace(done, then=then)
