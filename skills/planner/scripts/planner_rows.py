"""Checks the lists that planner records before there is a plan: commands, approaches, assumptions.

Called in the project's root as ``KIND VALUE...``; rows are JSON arrays. Prints each fault and ends with 1 if there is
one.
"""

from __future__ import annotations

import os
import re
import sys
from itertools import combinations

root = os.path.realpath(__file__)
for _ in range(4):
    root = os.path.dirname(root)
if root not in sys.path:
    sys.path.insert(0, root)

import skills.lib.checks as checks

COMMAND = "purpose | command | how it ended today"
APPROACH = "id | what is done | files | costs | risk"
ASSUMPTION = "id | what is so | source | what changes if wrong"
SOURCES = ("user-specified", "documented", "default", "assumed")

Rows = list[str]


def testing_faults(commands: Rows, strategy: str) -> Rows:
    """Commands that lack a part or stand there twice, and a strategy with hardly a word."""
    found = checks.row_faults(commands, COMMAND)
    return found + ["strategy says too little"] * checks.says_little(strategy, 5)


def approach_faults(approaches: Rows) -> Rows:
    """Approaches that lack a part, are misnumbered, or do the same."""
    found = checks.row_faults(approaches, APPROACH)
    if found:
        return found
    rows = [checks.cells(row) for row in approaches]
    for number, (name, *_) in enumerate(rows, 1):
        if name != f"A{number}":
            found.append(f"{name[:20]!r}: number the approaches A1, A2 and so on; A1 is the minimal one")
    for one, other in combinations(rows, 2):
        if checks.words(one[1]) == checks.words(other[1]):
            found.append(f"{one[0]} and {other[0]} do the same: merge them, or say in what they differ")
    return found


def assumption_faults(approaches: Rows, assumptions: Rows, recommendation: str) -> Rows:
    """Assumptions that lack a part or a known source, and a recommendation that names no approach."""
    found = checks.row_faults(assumptions, ASSUMPTION)
    if not found:
        rows = [checks.cells(row) for row in assumptions]
        found += [
            f"{row[0]}: the source is one of {', '.join(SOURCES)}"
            for row in rows
            if not row[2].lower().startswith(SOURCES)
        ]
        found += [f"the id {name:.20} is given twice" for name in checks.repeated(row[0] for row in rows)]
    known = [checks.cells(row)[0] for row in approaches]
    if not set(known) & set(re.findall(r"\w+", recommendation)):
        found.append(f"recommendation names the approach that you would take: {', '.join(known)}")
    return found


CHECKS: dict[str, tuple[checks.Check, str]] = {
    "testing": (testing_faults, "rows text"),
    "approaches": (approach_faults, "rows"),
    "assumptions": (assumption_faults, "rows rows text"),
}

if __name__ == "__main__":
    sys.exit(checks.run("planner_rows.py", CHECKS, sys.argv[1:]))
