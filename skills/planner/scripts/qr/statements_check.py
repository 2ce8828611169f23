"""Checks the statements of a review: each has a scope that the plan has, and none asks what another asks.

Called in the project's root as ``PLAN_DIR STATEMENTS [EARLIER...]``: JSON arrays of "S1 | scope | statement", or a text
that says why there are none; EARLIER are those of the steps before. Prints each fault and ends with 1 if there is one.
"""

from __future__ import annotations

import json
import os
import sys

root = os.path.realpath(__file__)
for _ in range(5):
    root = os.path.dirname(root)
for path in (os.path.dirname(os.path.dirname(os.path.realpath(__file__))), root):
    if path not in sys.path:
        sys.path.insert(0, path)

from plandata.command import plan_in  # type: ignore[import-not-found]
from plandata.faults import PlanError  # type: ignore[import-not-found]

import skills.lib.checks as checks

# Scopes that are no milestone: the plan as a whole, and finished work as a whole.
WHOLE = ("plan", "all")


def parts(value: str) -> list[tuple[str, str]]:
    """The scope and the text of each statement; none of a text that says why there are none."""
    if not value.lstrip().startswith("["):
        return []
    rows = [row.split("|", 2) for row in json.loads(value)]
    return [(row[1].strip(), row[2].strip()) for row in rows if len(row) > 2]


def faults(known: list[str], new: list[tuple[str, str]], earlier: list[tuple[str, str]]) -> list[str]:
    """Scopes that are nothing of the plan, and statements that are made already."""
    found = []
    made = {(scope.lower(), *checks.words(text)) for scope, text in earlier}
    for scope, text in new:
        names = [name.partition(".")[0] for name in scope.replace(",", " ").split()]
        strange = [name for name in names if name not in known and name.lower() not in WHOLE]
        if strange or not names:
            what = f"the scope {' '.join(strange)[:40]!r} is no milestone of the plan"
            found.append(f"{text[:60]!r}: {what}; write one of {', '.join([*known, *WHOLE])}")
        key = (scope.lower(), *checks.words(text))
        if key in made:
            found.append(f"{text[:60]!r} was stated before; leave it out, and state what else must be so")
        made.add(key)
    return found


def main(arguments: list[str]) -> int:
    """Print the faults of the statements; 0 if there are none."""
    if len(arguments) < 2:
        print("usage: statements_check.py PLAN_DIR STATEMENTS [EARLIER...]")
        return 2
    folder, new, *earlier = arguments
    try:
        known = [one["id"] for one in plan_in(folder)[1]["milestones"]]
        found = faults(known, parts(new), [one for text in earlier for one in parts(text)])
    except (PlanError, ValueError) as error:
        found = [f"the statements cannot be checked: {error}"]
    return checks.report(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
