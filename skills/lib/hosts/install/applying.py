"""Carries out the plan of an installation: files are written and removed, and the manifest says how far it is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from skills.lib.errors import tell
from skills.lib.hosts.install import manifest
from skills.lib.hosts.install.changes import CHANGING, Change, Plan
from skills.lib.hosts.install.disk import Disk
from skills.lib.hosts.install.manifest import Manifest


def apply(plan: Plan) -> None:
    """Carry out a plan; the scope's lock is held by the caller.

    The manifest first names every digest that was there or is to come, so that the next call completes what a stop
    leaves. OSError and EnvironmentProblem leave such a manifest, too.
    """
    place, before, then = plan.place, plan.before, plan.then
    disk, changing = Disk(place.bases), [change for change in plan.changes if change.action in CHANGING]
    if not changing and then == before:
        return
    was = before or Manifest(place.host, place.scope)
    coming = then or replace(was, uninstalled=True)
    files = {
        path: tuple(dict.fromkeys((*was.files.get(path, ()), *coming.files.get(path, ()))))
        for path in {**was.files, **coming.files}
    }
    entries, made = {**coming.entries, **was.entries}, coming.made or was.made
    rules = tuple(dict.fromkeys((*was.rules, *coming.rules)))
    manifest.write(place, replace(coming, files=files, entries=entries, made=made, rules=rules, complete=False))
    touched = {*files, *([place.hooks] if place.hooks else [])}
    if not was.complete:
        for path in touched:
            disk.drop_part(path)
    try:
        _make(disk, changing)
    except KeyboardInterrupt:
        said = "the next lockstep install, upgrade or uninstall completes this"
        tell(f"\n{place.host}, {place.scope} scope: {said}")  # the command ends the line
        raise
    for path in touched - (then.files.keys() if then else set()):
        disk.prune(path)
    if then is None:
        manifest.forget(place)
    else:
        manifest.write(place, then)


def _make(disk: Disk, changing: Sequence[Change]) -> None:
    for change in changing:
        if change.data is not None:
            disk.put(change.path, change.data)
        else:
            _remove(disk, change.path)


def _remove(disk: Disk, path: str) -> None:
    """Remove a file and what Python cached of it."""
    disk.remove(path)
    if path.endswith(".py"):
        folder, name = os.path.split(path)
        cache, stem = os.path.join(folder, "__pycache__"), name.removesuffix("py")
        for found in disk.names(cache):
            if found.startswith(stem) and ".pyc" in found:
                disk.remove(os.path.join(cache, found))
        disk.prune(os.path.join(cache, "x"))
