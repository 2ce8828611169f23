"""Checks that each entry of an explorer's lists begins with a place that can be opened, and that no part is empty.

Called in the project's root with any number of JSON arrays of texts, after the word ``files`` if their entries are
"path | why". Prints each fault and ends with 1 if there is one.
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
FILES = "files"
FORMS = {True: "path | why it may matter", False: "path:line | what is so | what it means, or a second place"}
_PLACE = re.compile(r"\s*`?(?P<path>[^\s`|:][^`|:]*?):(?P<first>\d+)(?:-(?P<last>\d+))?`?(?=[\s|,;]|$)")
_FILE = re.compile(r"\s*`?(?P<path>[^\s`|:][^`|:]*?)(?::(?P<first>\d+)(?:-(?P<last>\d+))?)?`?\s*(?=\||$)")


def faults(entries: list[str], root: str, of_files: bool = False) -> list[str]:
    """Each entry that does not begin with a place, lacks a part or is given twice, and why, as one sentence."""
    found = []
    for number, entry in enumerate(entries, 1):
        why = _fault(entry, root, of_files)
        if why:
            found.append(f"entry {number}, {entry[:60]!r}: {why}")
    return found or checks.row_faults(entries, FORMS[of_files])


def _fault(entry: str, root: str, of_files: bool) -> str:
    place = (_FILE if of_files else _PLACE).match(entry)
    if not place:
        return f"it does not begin with {'a path' if of_files else 'path:line'}"
    file = places.file_under(root, place["path"])
    if not file:
        return "outside the project; paths are relative to its root"
    kept = places.kept_in(os.path.relpath(file, os.path.realpath(root)))
    if kept:
        return f"it lies in {kept}, which is no part of the project"
    count = places.line_count(file)
    if count is None:
        return "no such file; paths are relative to the project's root"
    first = int(place["first"] or 1)
    last = int(place["last"] or first)
    return "" if 1 <= first <= last <= count or not place["first"] else f"the file has {count} lines"


def main(arguments: list[str]) -> int:
    """Print the faults of the lists; 0 if there are none."""
    of_files = arguments[:1] == [FILES]
    lists = arguments[of_files:]
    if not lists:
        print("usage: explore_check.py [files] JSON...")
        return 2
    try:
        found = [fault for text in lists for fault in faults(json.loads(text), os.getcwd(), of_files)]
    except (OSError, ValueError) as error:
        found = [f"a list cannot be checked: {error}"]
    return checks.report(found, SHOWN)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
