"""A copy of a skill, written whole or not at all: into a folder beside, which then takes the name."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping

from skills.lib.errors import EnvironmentProblem, RefusedError
from skills.lib.hosts.install import source


def write_copy(place: str, files: Mapping[str, bytes], replace: bool) -> None:
    """Write the files under ``place``; RefusedError where something stands there, but for an earlier copy to replace.

    Raises EnvironmentProblem where the disk does not take it; nothing is then left behind.
    """
    _check_way(place, replace)
    parent = os.path.dirname(place)
    try:
        os.makedirs(parent, exist_ok=True)
        draft = tempfile.mkdtemp(prefix=".lockstep-export-", dir=parent)
    except OSError as error:
        raise EnvironmentProblem(f"{parent} cannot be written: {error.strerror}", remedy="--to DIR") from error
    try:
        fresh = os.path.join(draft, "new")
        for name, data in files.items():
            path = os.path.join(fresh, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "xb") as file:
                file.write(data)
        _check_way(place, replace)
        _swap(place, fresh, os.path.join(draft, "old"))
    except OSError as error:
        raise EnvironmentProblem(f"{place} cannot be written: {error.strerror}", remedy="--to DIR") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _swap(place: str, fresh: str, old: str) -> None:
    """Give the fresh folder its name; the old one comes back where that fails."""
    replaced = os.path.lexists(place)
    if replaced:
        os.rename(place, old)
    try:
        os.rename(fresh, place)
    except OSError:
        if replaced:
            os.rename(old, place)
        raise


def _check_way(place: str, replace: bool) -> None:
    if not os.path.lexists(place):
        return
    if os.path.islink(place) or not os.path.isdir(place):
        raise RefusedError(f"{place} is in the way, and is no folder", remedy="move it away, or --to DIR")
    if not source.is_copy(place):
        raise RefusedError(f"{place} exists, and is no copy that export made", remedy="move it away, or --to DIR")
    if not replace:
        raise RefusedError(f"{place} exists already, and nothing is overwritten", remedy="--force, or --to DIR")
