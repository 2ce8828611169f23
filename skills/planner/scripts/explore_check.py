"""Checks that each entry of an explorer's lists begins with a place that can be opened, and that no part is empty.

Called in the project's root with any number of JSON arrays of texts. Prints each fault and ends with 1 if there is one.
Called as ``standing ENTRIES FALLEN OTHERS``, it prints the entries whose place none of FALLEN begins with; each of
FALLEN begins with the place of one of ENTRIES or OTHERS.
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

from plandata import places  # type: ignore[import-not-found]

import skills.lib.checks as checks

SHOWN = 10
STANDING = "standing"
FORM = "path:line | what is so | what it means, or a second place"
_PLACE = re.compile(r"\s*`?(?P<path>[^\s`|:][^`|:]*?):(?P<first>\d+)(?:-(?P<last>\d+))?`?(?=[\s|,;]|$)")


def faults(entries: list[str], root: str) -> list[str]:
    """Each entry that does not begin with a place, lacks a part or is given twice, and why, as one sentence."""
    found = []
    for number, entry in enumerate(entries, 1):
        why = _fault(entry, root)
        if why:
            found.append(f"entry {number}, {entry[:60]!r}: {why}")
    return found or checks.row_faults(entries, FORM)


def standing(entries: list[str], fallen: list[str], others: list[str]) -> list[str]:
    """The entries that have not fallen. Raises ValueError for one of ``fallen`` that is no entry, or says no more."""
    known = {_place(entry) for entry in (*entries, *others)}
    for entry in fallen:
        if _place(entry) not in known or not entry.partition("|")[2].strip():
            raise ValueError(f"{entry[:60]!r}: write the path:line of a finding or pattern | what holds instead")
    gone = {_place(entry) for entry in fallen}
    return [entry for entry in entries if _place(entry) not in gone]


def _place(entry: str) -> str:
    return entry.partition("|")[0].strip().strip("`")


def _fault(entry: str, root: str) -> str:
    place = _PLACE.match(entry)
    if not place:
        return "it does not begin with path:line"
    file = places.file_under(root, place["path"])
    if not file:
        return "outside the project; paths are relative to its root"
    kept = places.kept_in(os.path.relpath(file, os.path.realpath(root)))
    if kept:
        return f"it lies in {kept}, which is no part of the project"
    count = places.line_count(file)
    if count is None:
        return "no such file; paths are relative to the project's root"
    first = int(place["first"])
    last = int(place["last"] or first)
    return "" if 1 <= first <= last <= count else f"the file has {count} lines"


def main(arguments: list[str]) -> int:
    """Print the faults of the lists, or what stands; 0 if there are no faults."""
    if not arguments or (arguments[0] == STANDING and len(arguments) != 4):
        print("usage: explore_check.py JSON... | explore_check.py standing ENTRIES FALLEN OTHERS")
        return 2
    try:
        if arguments[0] == STANDING:
            # A field that was left out stands as its name in braces.
            lists = [json.loads(text) if text.startswith("[") else [] for text in arguments[1:]]
            print(json.dumps(standing(*lists), ensure_ascii=False))
            return 0
        found = [fault for text in arguments for fault in faults(json.loads(text), os.getcwd())]
    except (OSError, ValueError) as error:
        found = [f"a list cannot be checked: {error}"]
    return checks.report(found, SHOWN)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
