"""Checks that each entry of the given lists begins with a file of the project, and with a line that the file has.

Called in the project's root with one JSON array of texts per argument; a line may be left out. Prints each fault and
ends with 1 if there is one.
"""

from __future__ import annotations

import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from plandata import places  # type: ignore[import-not-found]

_PLACE = re.compile(r"\s*`?(?P<path>[^\s`|:][^`|:]*?)(?::(?P<line>[1-9]\d*)(?:-\d+)?)?`?\s*(?:\||$)")


def fault(entry: str, root: str) -> str:
    """Why an entry does not begin with a file, or nothing."""
    place = _PLACE.match(entry)
    if not place:
        return "it does not begin with a path, or path:line, and a bar"
    count = places.line_count(places.file_under(root, place["path"]))
    if count is None:
        return f"{place['path']} is no file of the project"
    return f"{place['path']} has {count} lines" if place["line"] and int(place["line"]) > count else ""


def main(arguments: list[str]) -> int:
    """Print each entry that names no file; 0 if there is none."""
    found = []
    try:
        for argument in arguments:
            found += [(entry, fault(entry, os.getcwd())) for entry in json.loads(argument)]
    except (OSError, ValueError) as error:
        print(f"the lists cannot be read: {error}")
        return 1
    wrong = [f"{entry[:80]!r}: {why}" for entry, why in found if why]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
