"""Checks what codebase-analysis names as places: the findings of a round, or a whole report with its sections.

Called in the project's root as ``findings FINDINGS UNREAD LOG CONFIDENCE`` (the areas that nobody has read, and the
findings of earlier rounds; rows are JSON arrays) or ``report PATH``; prints each fault and ends with 1 if there is one.
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

SECTIONS = ("Answer", "Structure", "Patterns", "Flows", "Decisions", "Context", "Open")
FEWEST_PLACES = 3
MOST_WORDS = 1_500
SURE = ("high", "certain")

_PLACE = r"(?P<path>[^\s`|:][^`|:]*?):(?P<first>\d+)(?:-(?P<last>\d+)|:\d+)?"
_BEGINNING = re.compile(rf"\s*`?{_PLACE}`?(?=[\s|,;]|$)")
_QUOTED = re.compile(rf"`{_PLACE}`")
_FENCE = re.compile(r"\s*(```|~~~)")


def round_faults(findings: list[str], unread: list[str], log: list[str], confidence: str) -> list[str]:
    """The faults of the findings, and the areas that nobody has read and this round leaves so."""
    return finding_faults(findings, os.curdir) or area_faults(findings, unread, log, confidence)


def finding_faults(findings: list[str], root: str) -> list[str]:
    """Every finding without a place that can be opened, or without its parts, as one sentence."""
    found = []
    for number, finding in enumerate(findings, 1):
        where = f"finding {number}, {finding[:60]!r}"
        match = _BEGINNING.match(finding)
        why = fault_of(match, root) if match else "it does not begin with path:line"
        if not why and not all([*checks.cells(finding), "", ""][:3]):
            why = "write path:line | what is so | what it means for the goal"
        found += [f"{where}: {fault}" for fault in ([why] if why else checks.quotation_faults(finding, root))]
    return found


def area_faults(findings: list[str], unread: list[str], log: list[str], confidence: str) -> list[str]:
    """Areas whose explorer was lost: each round reads one of them, and a sure one leaves none."""
    places = [match["path"] for row in (*findings, *log) if (match := _BEGINNING.match(row))]
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


def document_faults(path: str) -> list[str]:
    """The faults of the report in a file."""
    return report_faults(checks.text(path), os.curdir)


def report_faults(text: str, root: str) -> list[str]:
    """Every fault of a report as one sentence, its sections first, then its places by line."""
    found, places = [], set()
    for number, line in prose(text):
        for match in _QUOTED.finditer(line):
            if not means_a_file(match["path"], root):
                continue
            places.add(match[0])
            why = fault_of(match, root)
            if why:
                found.append(f"line {number}, {match[0]}: {why}")
    if len(places) < FEWEST_PLACES:
        found.append(f"{len(places)} places are named as `path:line`; a report rests on {FEWEST_PLACES} or more")
    count = len(text.split())
    if count > MOST_WORDS:
        found.append(f"it has {count:,} words, at most {MOST_WORDS:,}: cut what the goal does not need")
    return section_faults(text) + found


def prose(text: str) -> list[tuple[int, str]]:
    """The numbered lines outside code fences."""
    lines, fenced = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            lines.append((number, line))
    return lines


def section_faults(text: str) -> list[str]:
    """What is wrong with the headings: missing, empty, or out of order."""
    body: dict[str, str] = {}
    heading = ""
    for _, line in prose(text):
        if line.startswith("## "):
            heading = line[3:].strip(" #")
            body.setdefault(heading, "")
        elif heading:
            body[heading] += line.strip()
    missing = [name for name in SECTIONS if name not in body]
    if missing:
        return ["there is no section " + ", ".join(f"## {name}" for name in missing)]
    found = [f"the section ## {name} is empty" for name in SECTIONS if not body[name]]
    order = [name for name in body if name in SECTIONS]
    if order != list(SECTIONS):
        found.append(f"the sections stand as {', '.join(order)}; their order is {', '.join(SECTIONS)}")
    return found


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
    "findings": (round_faults, "rows rows rows text"),
    "report": (document_faults, "text"),
}

if __name__ == "__main__":
    sys.exit(checks.run("check_places.py", CHECKS, sys.argv[1:]))
