"""Checks what safe-shell-search records: searches with their parts, places with their words, an answer with its proof.

Called in the project's root as ``KIND VALUE...``; rows are JSON arrays. Prints each fault and ends with 1 if there is
one.
"""

from __future__ import annotations

import os
import sys

root = os.path.realpath(__file__)
for _ in range(4):
    root = os.path.dirname(root)
if root not in sys.path:
    sys.path.insert(0, root)

import skills.lib.checks as checks

SEARCH = "tool | pattern | folder | hits"
# How many searches without a hit show that something is absent.
PROOFS = 2

Rows = list[str]


def search_faults(searches: Rows, candidates: Rows) -> Rows:
    """Searches without their parts or number of hits, and candidates at places that do not exist."""
    found = checks.row_faults(searches, SEARCH)
    found += [f"{row[:60]!r}: end it with the number of hits" for row in searches if not found and hits(row) < 0]
    return found + checks.row_faults(candidates, "path:line | why") + place_faults(candidates)


def finding_faults(findings: Rows) -> Rows:
    """Findings without a place, without the words that stand there, or with other words."""
    form = "path:line | `the words that stand there` | what it shows"
    found = checks.row_faults(findings, form) + place_faults(findings)
    for row in findings if not found else ():
        quoted = checks.cells(row)[1]
        is_quoted = len(quoted) > 2 and quoted[0] == quoted[-1] == "`"
        found += checks.quotation_faults(row) if is_quoted else [f"{row[:60]!r}: write {form}"]
    return found


def answer_faults(verdict: str, answer: str, findings: Rows, searches: Rows, wider: Rows) -> Rows:
    """A verdict that the record does not prove, and an answer that does not name its proof."""
    empty = [row for row in dict.fromkeys([*searches, *wider]) if hits(row) == 0]
    if verdict == "found" and not findings:
        return ["nothing that was read proves it: the verdict is absent or open"]
    if verdict == "found" and not any(checks.location(row) in answer for row in findings):
        return [f"answer names no place of the findings, such as {checks.location(findings[0])}"]
    if verdict == "absent" and len(empty) < PROOFS:
        return [f"{len(empty)} searches found nothing, and {PROOFS} show that something is absent: the verdict is open"]
    if verdict == "absent" and not any(checks.cells(row)[1].strip("`") in answer for row in empty):
        return [f"answer names no pattern that was searched for, such as {checks.cells(empty[0])[1]}"]
    return []


def place_faults(rows: Rows) -> Rows:
    """A fault for each row whose place cannot be opened."""
    told = [(row, checks.location_fault(checks.cells(row)[0])) for row in rows]
    return [f"{row[:60]!r}: {why}" for row, why in told if why]


def hits(search: str) -> int:
    """How many hits a search had; -1 if it does not say."""
    last = checks.cells(search)[-1]
    return int(last) if last.isascii() and last.isdigit() else -1


CHECKS: dict[str, tuple[checks.Check, str]] = {
    "searches": (search_faults, "rows rows"),
    "findings": (finding_faults, "rows"),
    "answer": (answer_faults, "text text rows rows rows"),
}

if __name__ == "__main__":
    sys.exit(checks.run("check_search.py", CHECKS, sys.argv[1:]))
