"""Checks what refactor records: places, and one row per id.

Called in the project's root as ``KIND VALUE...``, where each value is a JSON array of rows ("cell | cell | …"); prints
each fault and ends with 1 if there is one.
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

SEVERITIES = ("MUST", "SHOULD", "COULD")
RULINGS = ("refactor", "leave", "ask")
CLUSTER = (
    "C1 | F1 F2 | root cause | what shows that it is one cause | refactor, leave or ask | the reason, with a place"
)

Rows = list[str]


def path_faults(rows: Rows) -> list[str]:
    """Every row whose first cell is no path of the project."""
    return [f"{row[:60]!r}: {why}" for row in rows if (why := checks.path_fault(checks.cells(row)[0].strip("`")))]


def place_faults(rows: Rows) -> list[str]:
    """Every row that does not begin with a place that can be opened, and every fragment that is not at its place."""
    found = []
    for at, row in enumerate(rows, 1):
        why = checks.location_fault(checks.cells(row)[0])
        faults = [why] if why else checks.quotation_faults(row)
        found += [f"row {at}, {row[:60]!r}: {fault}" for fault in faults]
    return found


def search_faults(signs: Rows, candidates: Rows) -> list[str]:
    """Every sign without its search and hits or what would excuse it, and every candidate without a place."""
    form = "sign | the search as it was run | how many hits, as a number | what would excuse it"
    found = []
    for row in signs:
        parts = checks.cells(row)
        if len(parts) < 4 or not all(parts[:4]) or not re.search(r"\d|\bno(ne|thing)?\b", parts[-2]):
            found.append(f"{row[:60]!r}: write {form}")
    return found + place_faults(in_full(candidates))


def finding_faults(rows: Rows, candidates: Rows, dismissed: Rows) -> list[str]:
    """Every finding without a place, a severity and what it is measured by; every candidate that no row speaks of."""
    found = place_faults(rows)
    for at, row in enumerate(rows, 1):
        parts, where = checks.cells(row), f"row {at}, {row[:60]!r}"
        if len(parts) < 4 or not all(parts[:4]):
            form = "path:line | severity | what is so | how it passes the threshold"
            found.append(f"{where}: {len(parts)} parts; write {form}")
        if len(parts) > 1 and parts[1] not in SEVERITIES:
            found.append(f"{where}: {parts[1][:20]!r} is not a severity; use one of {', '.join(SEVERITIES)}")
    found += [
        f"dismissed {row[:60]!r}: write path:line | why it is none, in more than a word"
        for row in dismissed
        if not checks.is_reason(" ".join(checks.cells(row)[1:]))
    ]
    named = "\n".join([*rows, *dismissed]).replace("`", "")
    places = dict.fromkeys(map(checks.location, in_full(candidates)))
    silent = [place for place in places if not re.search(re.escape(place) + r"(?!\d)", named)]
    return found + [f"the candidate {place} is in no finding and not dismissed" for place in silent]


def triage_faults(findings: Rows, triaged: Rows) -> list[str]:
    """Every finding without its one row, and every row that does not say what becomes of it."""
    found = checks.coverage(ids(findings), ids(triaged), "finding")
    for row in triaged:
        parts = checks.cells(row)
        if len(parts) < 3 or parts[1] not in (*SEVERITIES, "drop") or checks.says_little(parts[2], 2):
            found.append(
                f"{row[:60]!r}: write F1 | one of {', '.join(SEVERITIES)} | what you saw at the place, or F1 | drop | "
                "why; not in one word"
            )
    return found


def cluster_faults(holding: Rows, clusters: Rows) -> list[str]:
    """Every finding that is not in exactly one cluster, and every cluster without cause, ruling and reasons."""
    found = [f"the id {name} is given twice" for name in checks.repeated(ids(clusters))]
    members: list[str] = []
    for row in clusters:
        parts = checks.cells(row)
        if len(parts) < 6 or not all(parts[:6]):
            found.append(f"{row[:60]!r}: write {CLUSTER}")
            continue
        members += parts[1].replace(",", " ").split()
        found += ruling_faults(row[:60], parts[4], " | ".join(parts[5:]))
    return found + checks.coverage(ids(holding), members, "finding")


def ruling_faults(row: str, ruling: str, reason: str) -> list[str]:
    """What is wrong with the ruling on a cluster and its reason."""
    if ruling not in RULINGS or checks.says_little(reason, 2):
        return [f"{row!r}: its last parts are one of {', '.join(RULINGS)}, and the reason, with a place"]
    if ruling == "ask" and "?" not in reason:
        return [f"{row!r}: the reason to ask is a question to the user, with its question mark"]
    if ruling != "ask" and not checks.names_location(reason):
        return [f"{row!r}: the reason names no place that can be opened, as path:line"]
    return []


def in_full(rows: Rows) -> Rows:
    """Rows of which each that begins with :line is of the file of the one before, with that file."""
    found: Rows = []
    path = ""
    for row in rows:
        found.append(path + row.strip() if row.strip().startswith(":") else row)
        path = found[-1].strip("` ").partition(":")[0]
    return found


def ids(rows: Rows) -> list[str]:
    """The first cell of each row."""
    return [checks.cells(row)[0] for row in rows]


CHECKS: dict[str, tuple[checks.Check, str]] = {
    "paths": (path_faults, "rows"),
    "search": (search_faults, "rows rows"),
    "findings": (finding_faults, "rows rows rows"),
    "triage": (triage_faults, "rows rows"),
    "clusters": (cluster_faults, "rows rows"),
}

if __name__ == "__main__":
    sys.exit(checks.run("check_refactor.py", CHECKS, sys.argv[1:]))
