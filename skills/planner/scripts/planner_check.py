"""Checks a draft against what planner goes on with: the ids of its milestones by kind, and each file in one of them.

Called in the project's root as ``DRAFT.json CODE DOCUMENTATION``, the last two JSON arrays of ids; prints each fault
and ends with 1 if there is one, else prints the id of its content. A draft that passes gets the folder for copies
beside it, which plan_data.py collects from even where no milestone writes code. The form of the draft is for
plan_data.py to check.

Called as ``quick DRAFT.json``, it is held to what a plan of the quick way may be; every other call wants one of the
full way.

Called as ``PLAN_DIR CODE DOCUMENTATION ID``, the latest version of the plan is held to the ids; it and the draft must
have the content that was reviewed, which the ID is of, but for the changes of its milestones.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from planner_size import FULL, MOST_FILES, QUICK  # type: ignore[import-not-found]

KINDS = ("code", "documentation")
NO_MILESTONES = "the draft has no list of milestones; plan_data.py schema says what a plan looks like"


def id_faults(milestones: list[dict[str, Any]], recorded: dict[str, list[str]]) -> list[str]:
    """How the recorded ids differ from the draft's, kind by kind."""
    found = []
    for kind, ids in recorded.items():
        wanted = [str(one.get("id")) for one in milestones if one.get("kind") == kind]
        if sorted(ids) != sorted(wanted):
            found.append(f"{kind} is recorded as {json.dumps(ids)}, and the draft has {json.dumps(wanted)}")
    return found


def file_faults(milestones: list[dict[str, Any]]) -> list[str]:
    """Files that two milestones would write without one of them coming after the other."""
    before = {str(one.get("id")): _before(str(one.get("id")), milestones) for one in milestones}
    owners: dict[str, list[str]] = {}
    found = []
    for one in milestones:
        name, files = str(one.get("id")), one.get("files")
        for path in dict.fromkeys(map(str, files if isinstance(files, list) else ())):
            known = owners.setdefault(path.casefold(), [])
            apart = [other for other in known if other not in before[name] and name not in before[other]]
            if apart and name not in known:
                found.append(
                    f"{path} is among the files of {apart[0]} and of {name}, of which neither depends on the other: "
                    "let one depend on the other, join the two, or make what concerns it a milestone of its own"
                )
            known.append(name)
    return found


def _before(name: str, milestones: list[dict[str, Any]]) -> set[str]:
    """The milestones that have to be done before one, however far."""
    needs = {str(one.get("id")): one.get("depends_on") for one in milestones}
    found: set[str] = set()
    ahead = [name]
    while ahead:
        listed = needs.get(ahead.pop())
        new = {str(other) for other in listed} - found if isinstance(listed, list) else set()
        found |= new
        ahead += new
    return found


def faults(draft: object, recorded: dict[str, list[str]]) -> list[str]:
    """Everything that is wrong, as one sentence each."""
    milestones = draft.get("milestones") if isinstance(draft, dict) else None
    if not isinstance(draft, dict) or not isinstance(milestones, list):
        return [NO_MILESTONES]
    if not all(isinstance(one, dict) for one in milestones):
        return [NO_MILESTONES]
    way = [] if draft.get("way", FULL) == FULL else ["this run goes the full way, and the plan says otherwise"]
    return way + id_faults(milestones, recorded) + file_faults(milestones)


def quick_faults(draft: object) -> list[str]:
    """What keeps a draft from being a plan of the quick way, as one sentence each."""
    milestones = draft.get("milestones") if isinstance(draft, dict) else None
    if not isinstance(draft, dict) or not isinstance(milestones, list):
        return [NO_MILESTONES]
    found = []
    if draft.get("way") != QUICK:
        found.append('the draft lacks "way": "quick", by which the executor knows how it was planned')
    rows = [one for one in milestones if isinstance(one, dict)]
    names = [one.get("id") for one in rows]
    if names != ["M-001"]:
        found.append(f"a quick plan has the one milestone M-001, and the draft has {json.dumps(names)}")
    counts = [len(one["files"]) for one in rows if isinstance(one.get("files"), list)]
    if any(count > MOST_FILES for count in counts):
        found.append(f"M-001 has {max(counts)} files, and a quick plan {MOST_FILES} at most: plan it by the full way")
    return found


def reviewed_id(plan: dict[str, Any]) -> str:
    """The id of a plan's content without its changes, which come after the review."""
    from plandata.form import content_id  # type: ignore[import-not-found]

    return str(content_id({name: _without_changes(plan, name) for name in plan}))


def _version(folder: str, reviewed: str) -> str:
    """The name of the first version with that content; empty if there is none."""
    from plandata import faults, store  # type: ignore[import-not-found]

    for number in store.versions(folder):
        try:
            _, plan = store.load(folder, number)
        except faults.PlanError:
            continue
        if isinstance(plan, dict) and reviewed_id(plan) == reviewed:
            return f"plan.{number}.json"
    return ""


def draft_faults(folder: str, plan: dict[str, Any], reviewed: str) -> list[str]:
    """How the draft differs from what was reviewed, or the latest version from the draft, but for its changes."""
    draft = _read(os.path.join(folder, "draft.json"))
    if not isinstance(draft, dict) or reviewed_id(draft) != reviewed:
        version = _version(folder, reviewed)
        back = f"copy {folder}/{version} over it" if version else "put it back as it was"
        return [
            f"{folder}/draft.json was changed after its review, and nobody reviewed that: {back}, and run plan_data.py "
            f"save {folder} {folder}/draft.json. What is to be planned otherwise is for a run of its own"
        ]
    parts = [name for name in {**plan, **draft} if _without_changes(plan, name) != _without_changes(draft, name)]
    if not parts:
        return []
    return [
        f"the latest version of the plan differs from {folder}/draft.json, which was reviewed, in {', '.join(parts)}: "
        f"plan_data.py save {folder} {folder}/draft.json takes the draft back, and the changes are collected anew"
    ]


def _without_changes(plan: dict[str, Any], name: str) -> Any:
    """A part of a plan, its milestones without what was collected."""
    part = plan.get(name)
    if name != "milestones" or not isinstance(part, list):
        return part
    return [{**one, "changes": []} if isinstance(one, dict) else one for one in part]


def main(arguments: list[str]) -> int:
    """Print the faults of the draft or plan; if there are none, of a draft its id as JSON, and 0 is returned."""
    if len(arguments) == 2 and arguments[0] == QUICK:
        return _check_quick(arguments[1])
    is_folder = bool(arguments) and os.path.isdir(arguments[0])
    if len(arguments) != (4 if is_folder else 3):
        print(
            "usage: planner_check.py DRAFT.json CODE DOCUMENTATION | PLAN_DIR CODE DOCUMENTATION ID | quick DRAFT.json"
        )
        return 2
    try:
        draft = _read(arguments[0])
        recorded = dict(zip(KINDS, map(json.loads, arguments[1:3]), strict=True))
        found = faults(draft, recorded)
        if is_folder:
            found += draft_faults(arguments[0], draft, arguments[3])
        told = found or ([] if is_folder else [json.dumps(reviewed_id(draft))])
    except (OSError, ValueError, RecursionError) as error:
        print(f"{arguments[0]} cannot be read: {error}")
        return 1
    print("\n".join(told))
    if not found and not is_folder:
        _make_folder_of_copies(os.path.dirname(arguments[0]))
    return 1 if found else 0


def _check_quick(path: str) -> int:
    """Print what keeps the draft from being a quick plan; 0 if nothing does."""
    try:
        found = quick_faults(_read(path))
    except (OSError, ValueError, RecursionError) as error:
        found = [f"{path} cannot be read: {error}"]
    print("\n".join(found))
    if not found:
        _make_folder_of_copies(os.path.dirname(path))
    return 1 if found else 0


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
        import plandata  # noqa: F401  with it the library is on the path

        import skills.lib.checks as checks

        return json.loads(checks.text(path))
    from plandata import command, faults

    try:
        return command.plan_in(path)[1]
    except faults.PlanError as error:
        raise ValueError(error.what) from None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
