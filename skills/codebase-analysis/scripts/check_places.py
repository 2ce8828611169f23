"""Checks what codebase-analysis names as places: the findings of a round, or a whole report with its sections.

Called in the project's root as ``findings JSON`` (an array of texts that begin with path:line) or ``report PATH``;
prints each fault and ends with 1 if there is one.
"""

from __future__ import annotations

import json
import os
import re
import sys

SECTIONS = ("Answer", "Structure", "Patterns", "Flows", "Decisions", "Context", "Open")
FEWEST_PLACES = 3
SHOWN = 10

_PLACE = r"(?P<path>[^\s`|:][^`|:]*?):(?P<first>\d+)(?:-(?P<last>\d+)|:\d+)?"
_BEGINNING = re.compile(rf"\s*`?{_PLACE}`?(?=[\s|,;]|$)")
_QUOTED = re.compile(rf"`{_PLACE}`")
_FENCE = re.compile(r"\s*(```|~~~)")


def finding_faults(findings: list[str], root: str) -> list[str]:
    """Every finding without a place that can be opened, as one sentence."""
    found = []
    for number, finding in enumerate(findings, 1):
        match = _BEGINNING.match(finding)
        why = fault_of(match, root) if match else "it does not begin with path:line"
        if why:
            found.append(f"finding {number}, {finding[:60]!r}: {why}")
    return found


def report_faults(text: str, root: str) -> list[str]:
    """Every fault of a report as one sentence, its sections first, then its places by line."""
    found, places = [], 0
    for number, line in prose(text):
        for match in _QUOTED.finditer(line):
            if not means_a_file(match["path"], root):
                continue
            places += 1
            why = fault_of(match, root)
            if why:
                found.append(f"line {number}, {match[0]}: {why}")
    if places < FEWEST_PLACES:
        found.append(f"{places} places are named as `path:line`; a report rests on {FEWEST_PLACES} or more")
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
        with open(file, "rb") as opened:
            count = sum(1 for _ in opened)
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    first, last = int(place["first"]), int(place["last"] or place["first"])
    return "" if 1 <= first <= last <= count else f"the file has {count} lines"


def main(arguments: list[str]) -> int:
    """Print the faults of what is named; 0 if there are none."""
    kind, value = arguments if len(arguments) == 2 else ("", "")
    try:
        if kind == "findings":
            found = finding_faults(json.loads(value), os.getcwd())
        elif kind == "report":
            with open(value, encoding="utf-8-sig") as opened:
                found = report_faults(opened.read(), os.getcwd())
        else:
            print("usage: check_places.py findings JSON, or check_places.py report PATH")
            return 2
    except (OSError, ValueError) as error:
        found = [f"{value[:200]} cannot be read: {error}"]
    for fault in found[:SHOWN]:
        print(fault)
    if len(found) > SHOWN:
        print(f"and {len(found) - SHOWN} more")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
