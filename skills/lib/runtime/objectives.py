"""The functions of runs that are made from a SKILL.md without a graph: how a report of objectives ends a step."""

from __future__ import annotations

import os

from skills.lib.engine.decision import Refused
from skills.lib.model.types import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from skills.lib.model.steps import StepContext

DONE, PARTIAL, NOT = STATUSES = ("done", "partial", "not")
# The place of an objective that is reached by the words of the result.
ANSWER = "answer"
# How many objectives a run has at most.
MOST = 20
SHAPE = '{"number": 1, "status": "done, partial or not", "place": "a file, or answer", "note": "what was done"}'
SCHEMA: dict[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "number": {"type": "integer", "minimum": 1},
            "status": {"enum": list(STATUSES)},
            "place": {"type": "string", "description": f"a file of the project, or {ANSWER}"},
            "note": {"type": "string"},
        },
        "required": ["number", "status", "place", "note"],
    },
}
_LONGEST = 2_000


def judged(context: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """End the step if every objective is done, else begin it again; the state has each with its text.

    Raises Refused for a report that leaves an objective out, or names a file that the project does not have.
    """
    texts = objectives_of(context.run_state, context.workflow_params)
    found, faults = [], []
    given = _by_number(context.step_state.get("objectives"), len(texts))
    for number, text in enumerate(texts, 1):
        entry = given[number]
        if fault := _fault(entry, context.workflow_params):
            faults.append(f"objective {number}: {fault}")
        found.append({"number": number, "objective": text, **entry})
    if faults:
        raise _refused("; ".join(faults))
    done = sum(entry["status"] == DONE for entry in found)
    return (Outcome.OK if done == len(found) else Outcome.ITERATE), {"objectives": found, "done": done}


def forked(context: StepContext) -> tuple[Outcome, dict[str, Any]]:
    """End a step with what its one sub-agent brought: done only if that is done."""
    result = context.step_state["results"][0]
    values = result.get("values", {})
    named = {name: values[name] for name in ("result", "objectives", "done") if name in values}
    outcome = Outcome.OK if result["status"] == "done" else Outcome.FAIL
    return outcome, {**named, "record": f"lockstep trace {result['child']}"}


def objectives_of(state: Mapping[str, Mapping[str, Any]], params: Mapping[str, Any]) -> list[str]:
    """The objectives of a run in order: those that were recorded, or its task as the only one."""
    recorded = state.get("objectives", {}).get("objectives")
    return list(recorded) if recorded else [str(params.get("task") or "Do what the instructions say.")]


def counted(state: Mapping[str, Mapping[str, Any]], params: Mapping[str, Any]) -> tuple[int, int]:
    """How many objectives of a run are done, and how many it has."""
    own = state.get("work") or state.get("fork") or {}
    return int(own.get("done", 0)), len(own.get("objectives") or objectives_of(state, params))


def _by_number(value: Any, count: int) -> dict[int, dict[str, str]]:
    """The entries of a report by their numbers. Raises Refused if they are not one for each objective."""
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise _refused("the objectives are no JSON array of objects")
    found: dict[int, dict[str, str]] = {}
    for one in value:
        number = one.get("number")
        if number is None:
            raise _refused("an entry has no number")
        if isinstance(number, str) and number.isdecimal() and len(number) < 4:
            number = int(number)
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= count:
            raise _refused(f"there is no objective {number!r:.40}: they are numbered 1 to {count}")
        if number in found:
            raise _refused(f"objective {number} is reported twice")
        if one.get("status") not in STATUSES:
            raise _refused(f"objective {number}: the status {one.get('status')!r:.40} is none of {', '.join(STATUSES)}")
        texts = {name: str(one.get(name) or "").strip()[:_LONGEST] for name in ("place", "note")}
        found[number] = {"status": one["status"], **texts}
    if missing := [str(number) for number in range(1, count + 1) if number not in found]:
        raise _refused(f"nothing is said of objective {', '.join(missing)}: report each of the {count}")
    return found


def _fault(entry: Mapping[str, str], params: Mapping[str, Any]) -> str:
    """What an entry lacks; "" if nothing."""
    place = entry["place"]
    if entry["status"] != DONE and not entry["note"]:
        return "say in its note what is missing, and why"
    if entry["status"] == DONE and not place:
        return f"say in its place which file of the project shows it, or {ANSWER} if the result does"
    if not place or place == ANSWER or entry["status"] == NOT:
        return ""
    roots = [str(params[name]) for name in ("workspace", "data_folder") if params.get(name)]
    path = file_at(place, roots)
    if not path:
        return f"its place {place!r:.200} is no file of the project"
    if entry["status"] != DONE:
        return ""
    if why := _shows_nothing(path, roots, os.path.realpath(str(params.get("skill_folder") or os.devnull))):
        return f"its place {place!r:.200} {why}: name the file that does, or {ANSWER} if the result does"
    return ""


def file_at(place: str, roots: Sequence[str]) -> str:
    """The file below one of the folders to which a path leads, perhaps with a line as in ``a.py:12``; "" if none."""
    head, _, line = place.rpartition(":")
    names = [place, head] if head and line.isdigit() else [place]
    for root in map(os.path.realpath, roots):
        for name in names:
            path = os.path.realpath(os.path.join(root, name)) if "\0" not in name else root
            if path.startswith(os.path.join(root, "")) and os.path.isfile(path):
                return path
    return ""


def _shows_nothing(path: str, roots: Sequence[str], skill: str) -> str:
    """Why a file shows nothing that a run did; "" if it may."""
    if not os.path.getsize(path):
        return "is empty"
    if any(f"{os.sep}{name}{os.sep}" in path for name in (".git", ".lockstep")):
        return "is no work: git or Lockstep keeps it"
    is_root = skill in map(os.path.realpath, roots)
    if path == os.path.join(skill, "SKILL.md") or (not is_root and path.startswith(os.path.join(skill, ""))):
        return "is of the skill itself, which shows nothing that was done"
    return ""


def _refused(why: str) -> Refused:
    return Refused("bad-value", f"{why}. Each entry is {SHAPE}", wrong=("objectives",))
