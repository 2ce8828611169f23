"""Writes the files of a draft beside a SKILL.md: all of them or none, and never over a file that is there."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from skills.lib import files as disk
from skills.lib.errors import EnvironmentProblem, RefusedError
from skills.lib.layers.adopting.writing import WORKFLOW

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def check(folder: str | Path, files: Mapping[str, str]) -> None:
    """Raise RefusedError if one of the files is there already, or would be written outside of the folder."""
    root = os.path.realpath(folder)
    for path in files:
        target = os.path.join(root, path)
        parent = os.path.realpath(os.path.dirname(target))
        if parent != root and not parent.startswith(os.path.join(root, "")):
            raise RefusedError(f"{target} leads out of the skill, to {parent}", remedy="put the folder itself there")
        if os.path.lexists(target):
            raise RefusedError(f"{target} exists already, and nothing is overwritten", remedy="move it away")


def write(folder: str | Path, files: Mapping[str, str]) -> None:
    """Write the files, the workflow last. Raises RefusedError or EnvironmentProblem, and then none is left."""
    check(folder, files)
    root = os.path.realpath(folder)
    written: list[str] = []
    made: list[str] = []
    try:
        for path in sorted(files, key=lambda path: path == WORKFLOW):
            target = os.path.join(root, *path.split("/"))
            if not os.path.isdir(os.path.dirname(target)):
                os.makedirs(os.path.dirname(target))
                made.append(os.path.dirname(target))
            with open(target, "x", encoding="utf-8", newline="\n") as file:
                written.append(target)
                file.write(files[path])
    except BaseException as error:  # ^C as well: nothing may be left that the next call takes for somebody's own
        for target in written:
            disk.remove(target)
        for parent in reversed(made):
            with contextlib.suppress(OSError):
                os.rmdir(parent)
        if not isinstance(error, OSError):
            raise
        if isinstance(error, FileExistsError):
            raise RefusedError(f"{error.filename} exists already, and nothing is overwritten") from error
        what = f"{error.filename or root} cannot be written: {error.strerror}"
        raise EnvironmentProblem(what, remedy="make the folder of the skill writable, or copy it elsewhere") from error
