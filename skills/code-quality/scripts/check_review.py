"""Checks what code-quality records: files that exist, findings with their words; and makes the report of those kept.

Called in the project's root as ``KIND VALUE...``; rows are JSON arrays. Prints each fault and ends with 1 if there is
one. ``report FINDINGS EXAMINED KEPT`` prints the report as JSON.
"""

from __future__ import annotations

import json
import os
import sys

root = os.path.realpath(__file__)
for _ in range(4):
    root = os.path.dirname(root)
if root not in sys.path:
    sys.path.insert(0, root)

import skills.lib.checks as checks

ASPECTS = ("correctness", "readability", "maintainability", "security")
SEVERITIES = ("MUST", "SHOULD", "COULD")
FORM = "F1 | aspect | MUST, SHOULD or COULD | path:line | `the words that stand there` | what goes wrong"
NEVER_EXAMINED = "{review.examined}"
STANDINGS = ("kept", "dropped")

Rows = list[str]


def file_faults(files: Rows) -> Rows:
    """Files that are not there, or named twice."""
    found = [f"{path:.200}: {why}" for path in files if (why := checks.path_fault(path))]
    found += [f"{path:.200} is a folder: name its files" for path in files if not found and os.path.isdir(path)]
    return found + [f"{path:.200} is named twice" for path in checks.repeated(map(os.path.normpath, files))]


def finding_faults(files: Rows, findings: Rows, examined: Rows) -> Rows:
    """Findings without their parts, place or words, and aspects that nobody examined."""
    found = file_faults(files) + checks.row_faults(findings, FORM)
    if not found:
        found = [fault for number, row in enumerate(findings, 1) for fault in _faults_of(number, row, files)]
    looked = [checks.cells(row)[0] for row in examined if _names_what(row.partition("|")[2])]
    looked_at = {*looked, *(checks.cells(row)[1] for row in findings if "|" in row)}
    found += [
        f"examined: say what was looked at for {aspect}, with path:line"
        for aspect in ASPECTS
        if aspect not in looked_at
    ]
    return found + [f"examined: {name:.40} is none of {', '.join(ASPECTS)}" for name in looked if name not in ASPECTS]


def _names_what(text: str) -> bool:
    return not checks.says_little(text) and checks.names_location(text)


def _faults_of(number: int, row: str, files: Rows) -> Rows:
    name, aspect, severity, place, quoted, *_ = checks.cells(row)
    found = [] if name == f"F{number}" else [f"{row[:60]!r}: it is finding F{number}"]
    if aspect not in ASPECTS:
        found.append(f"{name}: the aspect is one of {', '.join(ASPECTS)}")
    if severity not in SEVERITIES:
        found.append(f"{name}: the severity is one of {', '.join(SEVERITIES)}")
    why = checks.location_fault(place)
    if why or os.path.normpath(path_of(place)) not in map(os.path.normpath, files):
        return [*found, f"{name}: {place:.200}: {why or 'that file is not in scope'}"]
    why = checks.quoted_fault(place, quoted)
    return [*found, f"{name}: {place:.200}: {why}"] if why else found


def kept_faults(findings: Rows, kept: Rows) -> Rows:
    """Findings that are neither kept nor dropped, and standings without a reason."""
    found = checks.row_faults(kept, "F1 | kept or dropped | path:line, or why")
    names = [checks.cells(row)[0] for row in kept]
    found += checks.coverage([checks.cells(row)[0] for row in findings], names, "finding")
    for row in kept if not found else ():
        name, standing, why = checks.cells(row)[:3]
        if standing not in STANDINGS:
            found.append(f"{name}: write one of {', '.join(STANDINGS)}")
        if standing == "kept" and not checks.names_location(why):
            found.append(f"{name}: name the path:line that decides, as it can be opened")
        elif checks.says_little(why):
            found.append(f"{name}: say why, with the path:line that decides")
    return found


def report(findings: Rows, examined: Rows, kept: Rows) -> str:
    """The report: the verdict, each finding that was kept, the most severe first, and what else was examined."""
    left = {cells[0]: cells[2] for row in kept if (cells := checks.cells(row))[1] == "kept"}
    rows = [checks.cells(row) for row in findings]
    rows = sorted((cells for cells in rows if cells[0] in left), key=lambda cells: SEVERITIES.index(cells[2]))
    verdict = "fail" if any(cells[2] == "MUST" for cells in rows) else "pass"
    told = [
        f"- {severity}, {aspect}, {place}: {' | '.join(wrong)} (kept: {left[name]})"
        for name, aspect, severity, place, _, *wrong in rows
    ]
    looked = [f"- {row}" for row in examined]
    without = ["", "Examined, and nothing found:", *looked] if looked else []
    return "\n".join([f"Verdict: {verdict}.", "", *(told or ["No finding."]), *without])


def path_of(place: str) -> str:
    """The path of a place."""
    return place.strip("`").rpartition(":")[0]


CHECKS: dict[str, tuple[checks.Check, str]] = {
    "findings": (finding_faults, "rows rows rows"),
    "kept": (kept_faults, "rows rows"),
}


def main(arguments: list[str]) -> int:
    """Check what a step records, or print the report as JSON."""
    match arguments:
        case ["report", findings, examined, kept]:
            ended = checks.run("check_review.py", CHECKS, ["kept", findings, kept])
            if not ended:
                looked = [] if examined == NEVER_EXAMINED else json.loads(examined)
                print(json.dumps(report(json.loads(findings), looked, json.loads(kept))))
            return ended
    return checks.run("check_review.py", CHECKS, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
