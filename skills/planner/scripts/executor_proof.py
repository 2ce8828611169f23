"""Prints what proves the work of the executor, as a JSON array of texts; ends with 1 if it did not end as reported.

Called in the project's root as ``PLAN_DIR ENDS DEPARTURES``, the departures a JSON array of texts. ENDS is "green" if
all commands of the plan end with 0 and each of its changes is in the tree, or has its milestone named in a departure.
Else ENDS is "red", and what is red comes first in the array.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING, Any

from plandata import checks, diffs  # type: ignore[import-not-found]
from plandata.command import plan_in  # type: ignore[import-not-found]
from plandata.faults import PlanError  # type: ignore[import-not-found]
from plandata.stages import text_of  # type: ignore[import-not-found]

from skills.lib.checks import cells, is_reason

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GREEN, RED = "green", "red"
_MILESTONES = re.compile(r"M-[0-9]{3}")


def missing(plan: Mapping[str, Any], departures: Sequence[str], root: str) -> list[str]:
    """The changes of the plan that are not in the tree, but for those of milestones that a departure names.

    A departure says why in its last part, or it is none.
    """
    named = {name for text in departures for name in _MILESTONES.findall(text.partition("|")[0])}
    found = [
        f"{text[:60]!r}: write milestone | planned | done | why, the last in more than a word"
        for text in departures
        if not is_reason(" | ".join(cells(text)[3:]))
    ]
    found += [
        f"{text[:60]!r}: write a departure for each milestone, with what was done in its place"
        for text in departures
        if len(_MILESTONES.findall(text.partition("|")[0])) > 1
    ]
    for one in plan["milestones"]:
        lacking = [change["file"] for change in one["changes"] if not is_there(change, root)]
        if lacking and one["id"] not in named:
            what = f"{one['id']}: the change of {', '.join(lacking)} is not in the tree"
            found.append(f"{what}; carry it out, or say under departures what was done in its place")
    return found


def is_there(change: Mapping[str, Any], root: str) -> bool:
    """True if a file has what a change brings, be it that the file was worked on since."""
    try:
        text = text_of(root, change["file"])
    except ValueError:
        return False
    if text is None:
        return bool(diffs.read(change["diff"]).removes)
    return not diffs.read(change["diff"]).removes and not diffs.undone(change["diff"], text)


def main(arguments: list[str]) -> int:
    """Print the proof; 0 if the work ends as reported."""
    if len(arguments) != 3 or arguments[1] not in (GREEN, RED):
        print("usage: executor_proof.py PLAN_DIR green|red DEPARTURES")
        return 2
    folder, ends, departures = arguments
    try:
        plan = plan_in(folder)[1]
        wrong = missing(plan, json.loads(departures), os.getcwd())
    except (PlanError, ValueError) as error:
        print(f"the work cannot be proved: {error}")
        return 1
    done = [checks.run(kind, argv, checks.SECONDS) for kind, argv in checks.commands_of(plan)]
    lines = checks.lines_of(done)
    failed = [one for one in done if one.why]
    if ends == RED and (failed or wrong):
        print(json.dumps([*wrong, *checks.tails_of(failed), *lines], ensure_ascii=False))
        return 0
    if ends == RED:
        print(f"nothing is red: {lines[-1]}, and each change of the plan is in the tree; record green")
        return 1
    if failed or wrong:
        print("\n".join([*checks.tails_of(failed), *wrong, *lines]))
        return 1
    print(json.dumps(lines, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(main(sys.argv[1:]))
