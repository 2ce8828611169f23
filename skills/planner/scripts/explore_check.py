"""Checks that each entry of an explorer's lists begins with a place that can be opened.

Called in the project's root with any number of JSON arrays of texts; prints each fault and ends with 1 if there is one.
"""

from __future__ import annotations

import json
import os
import re
import sys

from plandata import places  # type: ignore[import-not-found]

SHOWN = 10
_PLACE = re.compile(r"\s*`?(?P<path>[^\s`|:][^`|:]*?):(?P<first>\d+)(?:-(?P<last>\d+))?`?(?=[\s|,;]|$)")


def faults(entries: list[str], root: str) -> list[str]:
    """Each entry that does not begin with a place, and why, as one sentence."""
    found = []
    for number, entry in enumerate(entries, 1):
        why = _fault(entry, root)
        if why:
            found.append(f"entry {number}, {entry[:60]!r}: {why}")
    return found


def _fault(entry: str, root: str) -> str:
    place = _PLACE.match(entry)
    if not place:
        return "it does not begin with path:line"
    file = places.file_under(root, place["path"])
    if not file:
        return "outside the project; paths are relative to its root"
    count = places.line_count(file)
    if count is None:
        return "no such file; paths are relative to the project's root"
    first, last = int(place["first"]), int(place["last"] or place["first"])
    return "" if 1 <= first <= last <= count else f"the file has {count} lines"


def main(arguments: list[str]) -> int:
    """Print the faults of the lists; 0 if there are none."""
    if not arguments:
        print("usage: explore_check.py JSON...")
        return 2
    try:
        found = [fault for text in arguments for fault in faults(json.loads(text), os.getcwd())]
    except (OSError, ValueError) as error:
        found = [f"a list cannot be checked: {error}"]
    for fault in found[:SHOWN]:
        print(fault)
    if len(found) > SHOWN:
        print(f"and {len(found) - SHOWN} more")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
