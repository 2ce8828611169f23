"""Checks that no copy has other code than the review of the code approved.

Called in the project's root as ``PLAN_DIR``, before the copies are collected: what was approved is what the plan's
latest version has as changes. It holds for copies that no technical writer handed in, too. Prints each fault and ends
with 1 if there is one.
"""

from __future__ import annotations

import os
import sys

from plandata.command import plan_in  # type: ignore[import-not-found]
from plandata.faults import PlanError  # type: ignore[import-not-found]
from plandata.places import COPIES  # type: ignore[import-not-found]
from tw import plan_scrub_check  # type: ignore[import-not-found]


def main(arguments: list[str]) -> int:
    """Print the faults of the copies; 0 if there are none."""
    if len(arguments) != 1:
        print("usage: planner_unchanged.py PLAN_DIR")
        return 2
    [folder] = arguments
    try:
        found = [
            f"{one['id']} {fault}"
            for one in plan_in(folder)[1]["milestones"]
            if os.path.isdir(os.path.join(folder, COPIES, one["id"]))
            for fault in plan_scrub_check.faults(folder, one["id"], os.getcwd())
        ]
    except PlanError as error:
        found = [f"the plan cannot be read: {error.what}"]
    except (OSError, ValueError) as error:
        found = [f"the copies cannot be compared: {error}"]
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
