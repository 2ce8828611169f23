"""Paths that a plan may name, files that a place leads to, and folders that a plan may be kept in."""

from __future__ import annotations

import os
import stat

import skills.lib.checks as checks

from .faults import ENVIRONMENT, USAGE, PlanError

# Where copies are put, in the folder of their plan: hidden, so that test runners, compilers and linters pass over them.
COPIES = ".changes"
# Where the parts of a plan are, in its folder: what each sub-agent reads of it.
PARTS = ".parts"
# Names with a meaning of their own in the folder where a milestone's copies are put.
RESERVED = ("REMOVED", "COMMENTS.json")
_KEPT = (".git", ".lockstep")


def path_fault(path: str) -> str:
    """Why a text is no path of a file in the project, or nothing."""
    if path.startswith("/") or (len(path) > 1 and path[1] == ":"):
        return "absolute; paths are relative to the project's root"
    if "\\" in path:
        return "has a backslash; put / between the parts"
    if any(ord(char) < 32 or ord(char) == 127 for char in path) or path != path.strip():
        return "has a control character, or blanks at an end"
    parts = path.split("/")
    if ".." in parts:
        return "leads upwards; no part may be .."
    if "" in parts or "." in parts:
        return "has an empty part or a single dot; write it plainly, as in src/app.py"
    kept = kept_in(path)
    if kept:
        return f"lies in {kept}, which no plan changes"
    if path in RESERVED:
        return "has a name that the folder of copies keeps for itself"
    return ""


def kept_in(path: str) -> str:
    """The folder of git or of the ledger that a path leads through; empty if it leads through none."""
    return next((part for part in path.split("/") if part.lower() in _KEPT), "")


def file_under(root: str, path: str) -> str:
    """The real path that ``path`` leads to from the project's root, or nothing where that lies outside of it."""
    base = os.path.realpath(root)
    file = os.path.realpath(os.path.join(base, path))
    return file if file.startswith(base.rstrip(os.sep) + os.sep) else ""


def line_count(file: str) -> int | None:
    """How many lines a file has, or None where there is no file."""
    return checks.line_count(file) if os.path.isfile(file) else None


def plan_folder(argument: str, root: str, create: bool = False) -> str:
    """The absolute path of a plan's folder under the project's root; PlanError where it cannot be one."""
    base = os.path.realpath(root)
    wanted = os.path.normpath(os.path.join(base, argument))
    if wanted == base or not wanted.startswith(base.rstrip(os.sep) + os.sep):
        what = f"{argument!r:.200} is not a folder under the project's root {base}"
        raise PlanError(f"{what}; run this in the root, with a relative path such as plans/retry", code=USAGE)
    at = base
    for part in os.path.relpath(wanted, base).split(os.sep):
        at = os.path.join(at, part)
        if os.path.islink(at):
            raise PlanError(f"{os.path.relpath(at, base)} is a link; a plan is kept in real folders", code=USAGE)
    if create:
        _make(wanted, argument)
    if not os.path.isdir(wanted):
        raise PlanError(f"there is no folder {argument!r:.200} under {base}; save makes one", code=USAGE)
    return wanted


def _make(folder: str, argument: str) -> None:
    try:
        os.makedirs(folder, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        what = f"{argument!r:.200} is a file, or lies below one; a plan is kept in a folder"
        raise PlanError(what, code=USAGE) from None
    except OSError as error:
        raise PlanError(f"the folder {argument!r:.200} cannot be made: {error.strerror}", code=ENVIRONMENT) from None


def read_under(root: str, path: str, limit: int) -> bytes | None:
    """The content of a regular file under ``root``, reached without a link, or None where there is none.

    Raises ValueError for a link, a folder, or a file of more than ``limit`` bytes.
    """
    at = root
    for part in path.split("/"):
        at = os.path.join(at, part)
        if os.path.islink(at):
            raise ValueError(f"{os.path.relpath(at, root)} is a link; links are not followed")
    try:
        # Looked at before it is opened: opening a pipe waits for a writer.
        if not stat.S_ISREG(os.stat(at).st_mode):
            raise ValueError("it is no regular file")
        with open(at, "rb") as file:
            content = file.read(limit + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ValueError(f"it cannot be read: {error.strerror}") from None
    if len(content) > limit:
        raise ValueError(f"it has more than {limit:,} bytes")
    return content
