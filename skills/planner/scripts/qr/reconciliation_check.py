"""Checks the judgement on a milestone: a verdict for each requirement and acceptance, each met one at a place.

Called in the project's root as ``PLAN_DIR MILESTONE VERDICTS``, the last a JSON array of texts. Prints what they come
to, as ``{"status": "SATISFIED" or "PARTIAL" or "NOT", "missing": what is open}``; or each fault, and ends with 1.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from plandata import places  # type: ignore[import-not-found]
from plandata.command import milestone_of  # type: ignore[import-not-found]
from plandata.faults import PlanError  # type: ignore[import-not-found]

_VERDICT = re.compile(r"\s*(?P<id>[RA][1-9][0-9]*)\s*\|\s*(?P<how>\w+)\s*\|\s*(?P<rest>.*\S)", re.DOTALL)
_PLACE = re.compile(r"`?(?P<path>[^\s`|:][^`|:]*?):(?P<line>[1-9]\d*)(?:-\d+|:\d+)?`?(?=[\s|,;]|$)")


def judged(milestone: dict[str, Any], verdicts: list[str], root: str) -> tuple[list[str], dict[str, Any]]:
    """Every fault of the verdicts, as one sentence each; and what they come to."""
    wanted = [f"R{at}" for at in range(1, len(milestone["requirements"]) + 1)]
    wanted += [f"A{at}" for at in range(1, len(milestone["acceptance"]) + 1)]
    found: list[str] = []
    given: dict[str, re.Match[str]] = {}
    for number, text in enumerate(verdicts, 1):
        match = _VERDICT.match(text)
        head = f"verdict {number}, {text[:60]!r}: "
        if not match or match["how"] not in ("met", "open"):
            found.append(head + "write it as id | met | path:line | what shows it, or id | open | what is missing")
        elif match["id"] not in wanted or match["id"] in given:
            what = "has a verdict already" if match["id"] in given else f"is not one of {', '.join(wanted)}"
            found.append(f"{head}{match['id']} {what}")
        else:
            given[match["id"]] = match
            why = place_fault(match["rest"], milestone["files"], root) if match["how"] == "met" else ""
            if why:
                found.append(head + why)
    left = [name for name in wanted if name not in given]
    if left:
        found.append(f"there is no verdict on {', '.join(left)}")
    missing = [f"{name}: {match['rest']}" for name, match in given.items() if match["how"] == "open"]
    status = "SATISFIED" if not missing else "PARTIAL" if len(missing) < len(given) else "NOT"
    return found, {"status": status, "missing": missing}


def place_fault(rest: str, files: list[str], root: str) -> str:
    """Why what follows "met" does not begin with a place in one of the milestone's files, or nothing."""
    place = _PLACE.match(rest)
    if not place:
        return "what is met begins with path:line"
    count = places.line_count(places.file_under(root, place["path"]))
    if count is None:
        return f"{place['path']} is no file of the project"
    if int(place["line"]) > count:
        return f"{place['path']} has {count} lines"
    if os.path.normpath(place["path"]).replace(os.sep, "/") not in files:
        return (
            f"{place['path']} is not among the milestone's files, {', '.join(files):.400}: met is shown in one of them"
        )
    return ""


def main(arguments: list[str]) -> int:
    """Print what a judgement comes to, or its faults; 0 if there are none."""
    if len(arguments) != 3:
        print("usage: reconciliation_check.py PLAN_DIR MILESTONE VERDICTS")
        return 2
    folder, name, verdicts = arguments
    try:
        found, told = judged(milestone_of(folder, name), json.loads(verdicts), os.getcwd())
    except (PlanError, OSError, ValueError) as error:
        found, told = [f"the judgement cannot be checked: {error}"], {}
    print("\n".join(found) or json.dumps(told, ensure_ascii=False))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
