"""Checks a review of implemented work: every promise of the code was compared, and scopes are milestones of the plan.

Called in the project's root as ``PLAN_DIR compared TEXTS`` or ``PLAN_DIR items ITEMS``, both JSON arrays. Prints each
fault and ends with 1 if there is one.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any

ALL = "all"
_COMPARED = re.compile(r"\s*(?P<id>M-[0-9]{3})\s+(?P<number>[RA][1-9][0-9]*)\s*\|\s*(?P<how>[^|]*?)\s*\|\s*\S")


def compared_faults(plan: dict[str, Any], texts: list[str]) -> list[str]:
    """Requirements and acceptance of code that no line compares, and lines that say neither met nor not."""
    wanted = {
        (one["id"], f"{letter}{at}")
        for one in plan["milestones"]
        if one["kind"] == "code"
        for letter, name in (("R", "requirements"), ("A", "acceptance"))
        for at in range(1, len(one[name]) + 1)
    }
    found = []
    for text in texts:
        match = _COMPARED.match(text)
        if match and match["how"] not in ("met", "not"):
            found.append(f"{text[:60]!r}: after the first bar stands met or not")
        if match:
            wanted.discard((match["id"], match["number"]))
    if wanted:
        left = ", ".join(" ".join(pair) for pair in sorted(wanted))
        found.append(f"no line compares {left}; begin one with each, such as 'M-001 R1 | met | path:line | what is so'")
    return found


def scope_faults(plan: dict[str, Any], items: list[dict[str, str]]) -> list[str]:
    """Items whose scope is neither all nor ids of milestones."""
    known = [one["id"] for one in plan["milestones"]]
    found = []
    for item in items:
        scope = item.get("scope", "").replace(",", " ").split()
        odd = [name for name in scope if name not in known and name != ALL]
        if odd or not scope:
            what = f"{', '.join(odd)} is none" if odd else "it is empty"
            found.append(f"item {item.get('id')}: a scope is all, or ids of milestones ({', '.join(known)}); {what}")
    return found


def main(arguments: list[str]) -> int:
    """Print the faults of a review; 0 if there are none."""
    if len(arguments) != 3 or arguments[1] not in ("compared", "items"):
        print("usage: implementation_check.py PLAN_DIR compared|items JSON")
        return 2
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from plandata.command import plan_in  # type: ignore[import-not-found]
    from plandata.faults import PlanError  # type: ignore[import-not-found]

    folder, kind, given = arguments
    try:
        faults = compared_faults if kind == "compared" else scope_faults
        found = faults(plan_in(folder)[1], json.loads(given))
    except (PlanError, OSError, ValueError) as error:
        found = [f"the review cannot be checked: {error}"]
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
