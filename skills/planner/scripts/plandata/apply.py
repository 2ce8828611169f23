"""Puts the changes of one milestone into the working tree, all of its files or none."""

from __future__ import annotations

import contextlib
import os
import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

from . import diffs
from .faults import ENVIRONMENT, Fault, PlanError
from .stages import text_of

if TYPE_CHECKING:
    from collections.abc import Mapping


class Applied(NamedTuple):
    """What became of one file: ``written``, ``removed``, or ``there`` where it held the change already."""

    path: str
    how: str


def apply(one: Mapping[str, Any], root: str) -> list[Applied]:
    """Bring a milestone's files to what its changes say; what is in them already is left alone.

    Raises PlanError with each change that finds no place; no file is touched then.
    """
    faults, wanted = [], []
    for change in one["changes"]:
        path = change["file"]
        try:
            before = text_of(root, path)
            state, after = diffs.standing(change["diff"], before)
        except ValueError as error:
            faults.append(Fault(f"{change['id']} {path}", str(error)))
            continue
        wanted.append((path, state, before, after))
    if faults:
        raise PlanError(f"no change of {one['id']} was applied, for the tree is not as planned", faults)
    done: list[Applied] = []
    try:
        for path, state, _, after in wanted:
            done.append(Applied(path, _put(root, path, after) if state == diffs.TODO else "there"))
    except PlanError:
        for one_done, (path, _, before, _) in reversed(list(zip(done, wanted, strict=False))):
            if one_done.how != "there":
                with contextlib.suppress(PlanError):
                    _put(root, path, before)
        raise
    return done


def _put(root: str, path: str, text: str | None) -> str:
    target = os.path.join(root, path)
    part = f"{target}.{secrets.token_hex(4)}.part"
    try:
        if text is None:
            os.unlink(target)
            return "removed"
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(part, "x", encoding="utf-8", newline="") as file:
            file.write(text)
        if os.path.exists(target):
            os.chmod(part, os.stat(target).st_mode & 0o7777)
        os.replace(part, target)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise PlanError(f"{path} cannot be written: {error.strerror}", code=ENVIRONMENT) from None
    return "written"
