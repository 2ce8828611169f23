"""Checks a draft against what planner goes on with: the ids of its milestones by kind, and each file in one of them.

Called in the project's root as ``DRAFT.json CODE DOCUMENTATION``, the last two JSON arrays of ids; prints each fault
and ends with 1 if there is one. A draft that passes gets the folder for copies beside it, which plan_data.py collects
from even where no milestone writes code. The form of the draft is for plan_data.py to check. With the plan's folder in
place of a draft, its latest version is held to the ids, and to the draft that was reviewed: but for the changes of its
milestones the two are the same.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

KINDS = ("code", "documentation")


def id_faults(milestones: list[dict[str, Any]], recorded: dict[str, list[str]]) -> list[str]:
    """How the recorded ids differ from the draft's, kind by kind."""
    found = []
    for kind, ids in recorded.items():
        wanted = [str(one.get("id")) for one in milestones if one.get("kind") == kind]
        if sorted(ids) != sorted(wanted):
            found.append(f"{kind} is recorded as {json.dumps(ids)}, and the draft has {json.dumps(wanted)}")
    return found


def file_faults(milestones: list[dict[str, Any]]) -> list[str]:
    """Files that two milestones would write at the same time."""
    owner: dict[str, str] = {}
    found = []
    for one in milestones:
        files = one.get("files")
        for path in dict.fromkeys(map(str, files if isinstance(files, list) else ())):
            name = str(one.get("id"))
            first = owner.setdefault(path.casefold(), name)
            if first != name:
                found.append(
                    f"{path} is among the files of {first} and of {name}, which are written at the same time: join the "
                    "two, or make what concerns it a milestone of its own that depends on both"
                )
    return found


def faults(draft: object, recorded: dict[str, list[str]]) -> list[str]:
    """Everything that is wrong, as one sentence each."""
    milestones = draft.get("milestones") if isinstance(draft, dict) else None
    if not isinstance(milestones, list) or not all(isinstance(one, dict) for one in milestones):
        return ["the draft has no list of milestones; plan_data.py schema says what a plan looks like"]
    return id_faults(milestones, recorded) + file_faults(milestones)


def draft_faults(folder: str, plan: dict[str, Any]) -> list[str]:
    """How the latest version of a plan differs from the draft beside it, but for its changes."""
    draft = _read(os.path.join(folder, "draft.json"))
    if not isinstance(draft, dict):
        return [f"{folder}/draft.json is no plan any more; put it back as it was when it was reviewed"]
    parts = [name for name in {**plan, **draft} if _without_changes(plan, name) != _without_changes(draft, name)]
    if not parts:
        return []
    return [
        f"the latest version of the plan differs from {folder}/draft.json, which was reviewed, in {', '.join(parts)}: "
        f"plan_data.py save {folder} {folder}/draft.json takes the draft back, and the changes are collected anew. If "
        "it is the draft that was changed since, put it back first."
    ]


def _without_changes(plan: dict[str, Any], name: str) -> Any:
    """A part of a plan, its milestones without what was collected."""
    part = plan.get(name)
    if name != "milestones" or not isinstance(part, list):
        return part
    return [{**one, "changes": []} if isinstance(one, dict) else one for one in part]


def main(arguments: list[str]) -> int:
    """Print the faults of the draft or plan; 0 if there are none."""
    if len(arguments) != 3:
        print("usage: planner_check.py DRAFT.json CODE DOCUMENTATION")
        return 2
    try:
        draft = _read(arguments[0])
        recorded = dict(zip(KINDS, map(json.loads, arguments[1:]), strict=True))
        found = faults(draft, recorded)
        if os.path.isdir(arguments[0]):
            found += draft_faults(arguments[0], draft)
    except (OSError, ValueError, RecursionError) as error:
        print(f"{arguments[0]} cannot be read: {error}")
        return 1
    print("\n".join(found))
    if found:
        return 1
    if not os.path.isdir(arguments[0]):
        _make_folder_of_copies(os.path.dirname(arguments[0]))
    return 0


def _make_folder_of_copies(folder: str) -> None:
    """Make the folder for copies, which git ignores, and linters that go by what git ignores."""
    from plandata.places import COPIES  # type: ignore[import-not-found]

    os.makedirs(os.path.join(folder, COPIES), exist_ok=True)
    ignored = os.path.join(folder, ".gitignore")
    if not os.path.lexists(ignored):
        with open(ignored, "w", encoding="utf-8") as opened:
            opened.write(f"/{COPIES}/\n")


def _read(path: str) -> Any:
    """The draft at a path, or the latest version of the plan in a folder; ValueError where it cannot be read."""
    if not os.path.isdir(path):
        with open(path, encoding="utf-8-sig") as opened:
            return json.load(opened)
    from plandata import command, faults  # type: ignore[import-not-found]

    try:
        return command.plan_in(path)[1]
    except faults.PlanError as error:
        raise ValueError(error.what) from None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
