"""Checks what safe-shell-search records: searches with their parts, places with their words, an answer with its proof.

Called in the project's root as ``KIND VALUE...``; rows are JSON arrays. Prints each fault and ends with 1 if there is
one. ``proof`` without one prints the report as JSON.
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
from skills.lib.rows import with_paths

SEARCH = "pattern | hits"
# How many searches without a hit show that something is absent.
PROOFS = 2
# How many words the check has of its own step.
OWN = 5

Rows = list[str]


def proof_faults(verdict: str, answer: str, searches: Rows, findings: Rows, made: Rows, read: Rows) -> Rows:
    """Searches and findings without their parts, and a verdict that these and the earlier ones do not prove."""
    found = search_faults(searches) + finding_faults(findings)
    empty = {search_of(row) for row in [*made, *searches] if hits(row) == 0}
    if found:
        return found
    if verdict == "found" and not [*read, *findings]:
        return ["nothing that was read proves it: the verdict is absent or open"]
    if verdict == "absent" and len(empty) < PROOFS:
        return [f"{len(empty)} searches found nothing, and {PROOFS} show that something is absent: the verdict is open"]
    return ["answer says too little"] if checks.says_little(answer) else []


def search_faults(searches: Rows) -> Rows:
    """Searches without their parts or number of hits."""
    found = checks.row_faults(searches, SEARCH)
    return found + [f"{row[:60]!r}: end it with the number of hits" for row in searches if not found and hits(row) < 0]


def finding_faults(findings: Rows) -> Rows:
    """Findings without a place, without the words that stand there, or with other words."""
    form = "path:line | `the words that stand there` | what it shows"
    rows = with_paths(findings)
    found = checks.row_faults(rows, form) + place_faults(rows)
    for row in rows if not found else ():
        place, quoted = checks.cells(row)[:2]
        why = checks.quoted_fault(place, quoted)
        if why:
            found.append(f"{place}: {why}" if quoted[0] == "`" else f"{row[:60]!r}: write {form}")
    return found


def report(verdict: str, answer: str, searches: Rows, findings: Rows) -> str:
    """The answer with its proof: the places that were read, and the searches."""
    read = [f"- {row}" for row in findings]
    told = [f"- {row}" for row in dict.fromkeys(searches)]
    heads = [f"{answer.strip()}", "", f"Verdict: {verdict}."]
    return "\n".join(
        [*heads, *(["", "Read:", *read] if read else []), "", "Searched (pattern | folder | hits):", *told]
    )


def place_faults(rows: Rows) -> Rows:
    """A fault for each row whose place cannot be opened."""
    told = [(row, checks.location_fault(checks.cells(row)[0])) for row in rows]
    return [f"{row[:60]!r}: {why}" for row, why in told if why]


def search_of(row: str) -> tuple[str, ...]:
    """The pattern of a search and the folder that was searched, however it is written; none for the whole project."""
    *pattern, folder = checks.cells(row)[:-1]
    folder = os.path.normpath(folder) if pattern else folder
    return (*pattern, *([folder] if folder != os.curdir else []))


def hits(search: str) -> int:
    """How many hits a search had; -1 if it does not say."""
    last = checks.cells(search)[-1]
    return int(last) if last.isascii() and last.isdigit() else -1


CHECKS: dict[str, tuple[checks.Check, str]] = {"proof": (proof_faults, "text text rows rows rows rows")}


def main(arguments: list[str]) -> int:
    """Check what a step records; print the report as JSON if nothing is wrong.

    After the values of the step come those of earlier passes, searches and findings in turn.
    """
    before = [[] if text.startswith("{") or not text else json.loads(text) for text in arguments[OWN:]]
    made, read = (sum(before[at::2], Rows()) for at in (0, 1))
    read = with_paths(read)
    ended = checks.run("check_search.py", CHECKS, [*arguments[:OWN], json.dumps(made), json.dumps(read)])
    if not ended:
        verdict, answer, searches, findings = arguments[1:OWN]
        found = [*read, *with_paths(json.loads(findings))]
        print(json.dumps(report(verdict, answer, [*made, *json.loads(searches)], found)))
    return ended


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
