"""Carries a plan out so that a stop at any moment leaves the old state or the new one, or what the next call mends.

First the manifest says what is intended; then every file is written beside its place; then the manifest says that all
is staged; then each file takes its name, and what is no longer wanted goes; then the manifest says what is there. A
call that finds an intention takes back what was only staged, and finishes what was begun.
"""

from __future__ import annotations

import os
from dataclasses import replace

from skills.lib.errors import LockstepError
from skills.lib.hosts.install import manifest
from skills.lib.hosts.install.disk import Disk
from skills.lib.hosts.install.planning import CHANGING, DELETE, Plan, digest
from skills.lib.hosts.install.record import Intended, Manifest
from skills.lib.hosts.places import Places


def apply(plan: Plan) -> None:
    """Carry out a plan; the scope's lock is held by the caller. Where a file cannot be written, nothing is changed."""
    place = plan.place
    if plan.is_empty() and plan.then == plan.before:
        return
    disk = Disk(place.bases)
    old = plan.before or Manifest(place.host, place.scope)
    intended = _intention(plan)
    try:
        manifest.make_room(place)
        manifest.write(place, replace(old, intended=intended))
        for folder in intended.folders:
            disk.make_folder(folder)
        for change in plan.changes:
            if change.data is not None:
                disk.stage(change.path, change.data, intended.tag)
        staged = replace(intended, committed=True)
        manifest.write(place, replace(old, intended=staged))
    except (OSError, LockstepError):
        _take_back(place, disk, old, intended)
        raise
    _finish(place, disk, staged)


def recover(place: Places) -> Manifest | None:
    """Take back or finish what an interrupted call left, and return the manifest as it then is."""
    manifest.drop_staged(place)
    told = manifest.read(place)
    if told is None:
        manifest.leave_room(place)
        return None
    if told.intended is None:
        return told
    disk = Disk(place.bases)
    if told.intended.committed:
        _finish(place, disk, told.intended)
    else:
        _take_back(place, disk, replace(told, intended=None), told.intended)
    return manifest.read(place)


def _intention(plan: Plan) -> Intended:
    """What the plan changes, as the manifest keeps it while it is under way."""
    changing = [change for change in plan.changes if change.action in CHANGING]
    puts = {change.path: [digest(change.data), change.was] for change in changing if change.data is not None}
    removals = {change.path: change.was for change in changing if change.action == DELETE}
    return Intended(os.urandom(4).hex(), False, puts, removals, plan.folders, plan.then)


def _take_back(place: Places, disk: Disk, old: Manifest, intended: Intended) -> None:
    """Remove what was staged and the folders that were made for it; the old manifest stands again."""
    manifest.drop_staged(place)
    for path in intended.puts:
        disk.drop_staged(path, intended.tag)
    for folder in sorted(intended.folders, reverse=True):
        disk.remove_folder(folder)
    _conclude(place, None if not old.version else old)


def _finish(place: Places, disk: Disk, intended: Intended) -> None:
    """Put what is staged in its place, and remove what goes; what somebody changed in between stays theirs."""
    theirs = []
    for path, (new, was) in intended.puts.items():
        if not disk.is_staged(path, intended.tag):
            continue
        current = disk.read(path)
        if current is None or digest(current) in (was, new):
            disk.commit(path, intended.tag)
        else:
            disk.drop_staged(path, intended.tag)
            theirs.append(path)
    disk.sync(intended.puts)
    for path, was in intended.removals.items():
        current = disk.read(path)
        if current is not None and digest(current) == was:
            disk.remove(path)
        _remove_bytecode(disk, path)
    then = intended.then
    told = manifest.read(place)
    made = {*(told.folders if told else ()), *intended.folders, *(then.folders if then else ())}
    _remove_folders(disk, made, then)
    if then is not None:
        kept = tuple(folder for folder in sorted(made) if os.path.isdir(folder))
        files = {path: told for path, told in then.files.items() if path not in theirs}
        then = replace(then, folders=kept, files=files)
    _conclude(place, then)


def _conclude(place: Places, then: Manifest | None) -> None:
    if then is None:
        manifest.forget(place)
        manifest.leave_room(place)
    else:
        manifest.write(place, then)


def _remove_folders(disk: Disk, made: set[str], then: Manifest | None) -> None:
    """Remove the folders that we made and that hold nothing any more, innermost first."""
    used = {os.path.dirname(path) for path in (*then.files, *then.merged)} if then is not None else set()
    for folder in sorted(made, reverse=True):
        if not any((place + os.sep).startswith(folder + os.sep) for place in used):
            disk.remove_folder(folder)


def _remove_bytecode(disk: Disk, path: str) -> None:
    """Remove what Python cached of a module that is gone."""
    if not path.endswith(".py"):
        return
    folder, name = os.path.split(path)
    cache = os.path.join(folder, "__pycache__")
    stem = name.removesuffix("py")
    for found in disk.names(cache):
        if found.startswith(stem) and ".pyc" in found:
            disk.remove(os.path.join(cache, found))
    disk.remove_folder(cache)
