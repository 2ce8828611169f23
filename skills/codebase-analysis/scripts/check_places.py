"""Checks what codebase-analysis names as places: the findings of an explorer, or of a round.

Called in the project's root as ``explored FINDINGS UNSURE`` or ``findings FINDINGS UNREAD UNREAD LOG CONFIDENCE`` (the
areas that nobody has read, and the findings of earlier rounds; rows are JSON arrays); prints each fault and ends with 1
if there is one.
"""

from __future__ import annotations

import os
import re
import sys

root = os.path.realpath(__file__)
for _ in range(4):
    root = os.path.dirname(root)
if root not in sys.path:
    sys.path.insert(0, root)

import skills.lib.checks as checks
from skills.lib.rows import with_paths

KINDS = ("structure", "pattern", "flow", "decision", "context", "border")
SURE = ("high", "certain")

PLACE = r"(?P<path>[^\s`|:][^`|:]*?):(?P<first>\d+)(?:-(?P<last>\d+)|:\d+)?"
BEGINNING = re.compile(rf"\s*`?{PLACE}`?(?=[\s|,;]|$)")


def explored_faults(findings: list[str], unsure: list[str]) -> list[str]:
    """The faults of what an explorer found; one that found nothing says what it could not settle."""
    if not findings and not unsure:
        return ["findings is empty, so that unsure says what could not be settled, and why"]
    faults = finding_faults(findings, os.curdir, "path:line | what is so")
    if faults:
        return faults
    without = [row for row in findings if not kind_of(kind_part(row))]
    return [f"{row[:60]!r}: its last part is one of {', '.join(KINDS)}" for row in without]


def kind_part(row: str) -> str:
    """What a finding of an explorer says of its kind; a finding that says nothing is one of structure."""
    return [*checks.cells(row), ""][2] or KINDS[0]


def kind_of(text: str) -> str:
    """The kind that a text names first; empty if it names none."""
    word = re.split(r"\W", text.strip().lower(), maxsplit=1)[0]
    return next((kind for kind in KINDS if word in (kind, f"{kind}s")), "")


def round_faults(findings: list[str], alone: list[str], lost: list[str], log: list[str], confidence: str) -> list[str]:
    """The faults of the findings, and the areas that nobody has read and this round leaves so."""
    return finding_faults(findings, os.curdir) or area_faults(with_paths(findings), [*alone, *lost], log, confidence)


def finding_faults(
    findings: list[str], root: str, form: str = "path:line | what is so | what it means for the goal"
) -> list[str]:
    """Every finding without a place that can be opened, or without its parts, as one sentence."""
    found = []
    count = len(checks.cells(form))
    for number, finding in enumerate(with_paths(findings), 1):
        where = f"finding {number}, {finding[:60]!r}"
        match = BEGINNING.match(finding)
        why = fault_of(match, root) if match else "it does not begin with path:line"
        if not why and not all([*checks.cells(finding), "", ""][:count]):
            why = f"write {form}"
        found += [f"{where}: {fault}" for fault in ([why] if why else checks.quotation_faults(finding, root))]
    return found


def area_faults(findings: list[str], unread: list[str], log: list[str], confidence: str) -> list[str]:
    """Areas whose explorer was lost: each round reads one of them, and a sure one leaves none."""
    places = [match["path"] for row in (*findings, *log) if (match := BEGINNING.match(row))]
    left = [area for area in unread if paths_of(area) and not any(lies_in(place, area) for place in places)]
    now = places[: len(findings)]
    if confidence not in SURE and any(lies_in(place, area) for place in now for area in unread):
        return []
    return [f"nobody has read {area[:60]!r}: give a finding from its paths" for area in left]


def paths_of(area: str) -> list[str]:
    """The paths of an area that exist in the project."""
    parts = re.split(r"[,\s]+", checks.cells(area)[0])
    return [os.path.normpath(part.strip("`")) for part in parts if part and not checks.path_fault(part.strip("`"))]


def lies_in(place: str, area: str) -> bool:
    """True if a path lies in an area."""
    path = os.path.normpath(place)
    return any(path == part or part == os.curdir or path.startswith(part + os.sep) for part in paths_of(area))


def means_a_file(path: str, root: str) -> bool:
    """Whether a quoted ``path:12`` is a place: it has a folder or an ending, or exists; ``localhost:80`` is none."""
    ending = os.path.splitext(path)[1][1:]
    return "/" in path or (ending.isalnum() and not ending.isdigit()) or os.path.exists(os.path.join(root, path))


def fault_of(place: re.Match[str], root: str) -> str:
    """Why a place cannot be opened, or nothing."""
    file = os.path.realpath(os.path.join(root, place["path"]))
    if not file.startswith(os.path.realpath(root).rstrip(os.sep) + os.sep):
        return "outside the project; paths are relative to its root"
    if not os.path.isfile(file):
        return "no such file; paths are relative to the project's root"
    try:
        count = checks.line_count(file)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    first, last = int(place["first"]), int(place["last"] or place["first"])
    return "" if 1 <= first <= last <= count else f"the file has {count} lines"


CHECKS: dict[str, tuple[checks.Check, str]] = {
    "explored": (explored_faults, "rows rows"),
    "findings": (round_faults, "rows rows rows rows text"),
}

if __name__ == "__main__":
    sys.exit(checks.run("check_places.py", CHECKS, sys.argv[1:]))
