"""Prints by which way a change may be planned, as JSON: {"way": "quick" or "full", "why": […]}.

Called in the project's root as ``FILES CRITERIA``, two JSON arrays of rows; anything else stands for a value that was
not recorded. Prints each fault and ends with 1 if there is one.
"""

from __future__ import annotations

import json
import os
import re
import sys

root = os.path.realpath(__file__)
for _ in range(4):
    root = os.path.dirname(root)
if root not in sys.path:
    sys.path.insert(0, root)

from plandata.places import path_fault  # type: ignore[import-not-found]

import skills.lib.checks as checks

QUICK, FULL = "quick", "full"
# Files that the one milestone of a quick plan has at most, tests and documents included.
MOST_FILES = 8
CRITERIA = ("area", "interface", "data", "dependency", "migration", "security", "undo")
FILE, CRITERION = "path | what changes there", "name | yes or no | the place or search that shows it"
# What a file says of a criterion by its name, whatever the row says.
_BY_NAME = {
    "dependency": re.compile(
        r"(requirements[\w.-]*\.(txt|in)|[\w.-]*\.lock|package(-lock)?\.json|go\.(mod|sum)|cargo\.toml|gemfile|pom\.xml)"
    ),
    "migration": re.compile(r"(.*/)?migrations?/.*"),
}

Rows = list[str]


def faults(files: Rows, criteria: Rows) -> Rows:
    """What is wrong with the rows, as one sentence each."""
    found = checks.row_faults(files, FILE) + checks.row_faults(criteria, CRITERION)
    if found:
        return found
    paths = _paths(files)
    found = [f"{path!r:.80} {why}" for path in paths if (why := path_fault(path))]
    rows = [checks.cells(row) for row in criteria]
    found += checks.coverage(CRITERIA, [row[0] for row in rows], "criterion")
    found += [f"{row[0]:.20}: say yes or no, not {row[1]!r:.40}" for row in rows if row[1] not in ("yes", "no")]
    found += [f"{row[0]:.20}: say by which place or search" for row in rows if checks.says_little(" ".join(row[2:]), 2)]
    said = {row[0]: row[1] for row in rows}
    for name, pattern in _BY_NAME.items():
        shown = [path for path in paths if pattern.fullmatch(_known_by(name, path))]
        if shown and said.get(name) == "no":
            found.append(f"{name} is yes, as {shown[0]} is among the files")
    return found


def proposal(files: Rows, criteria: Rows) -> tuple[str, Rows]:
    """The way for a change of these files, and what speaks against the quick one."""
    against = [row for row in criteria if checks.cells(row)[1] == "yes"]
    if len(files) > MOST_FILES:
        against.append(f"{len(files)} files change, and the quick way has {MOST_FILES} at most")
    return (FULL if against else QUICK), against


def _known_by(name: str, path: str) -> str:
    return (os.path.basename(path) if name == "dependency" else path).lower()


def _paths(files: Rows) -> Rows:
    return [checks.cells(row)[0].strip("`") for row in files]


def main(arguments: list[str]) -> int:
    """Print the way; 0 if the rows are as they should be."""
    if len(arguments) != 2:
        print("usage: planner_size.py FILES CRITERIA")
        return 2
    given = [json.loads(text) if text.startswith("[") else [] for text in arguments]
    if not any(given):
        print(json.dumps({"way": FULL, "why": ["nothing was recorded that proposes the quick way"]}))
        return 0
    if not all(given):
        return checks.report(["files and criteria go together: record both, or neither for the full way"])
    found = faults(*given)
    if found:
        return checks.report(found)
    way, why = proposal(*given)
    print(json.dumps({"way": way, "why": why}, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
