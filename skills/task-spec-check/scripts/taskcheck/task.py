"""Reads a task: the profile, which says where the state is, the issue and its tasks, each by its schema."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from skills.lib import checks
from skills.lib.schema import violations

if TYPE_CHECKING:
    from collections.abc import Mapping

RESOURCES = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))), "resources")
PATHS = ("state", "issue", "tasks", "evidence", "report", "feedback", "progress", "status")
CURRENT = "current"
# What a task's status is once the check has passed.
PASSED = "passed"


class TaskProblem(Exception):
    """The task cannot be read, or not be judged; each fault is one sentence that says what to do."""

    def __init__(self, *faults: str) -> None:
        super().__init__("; ".join(faults))
        self.faults = list(faults)


class Criterion(NamedTuple):
    """What must be so, with the commands that the task itself gives for it."""

    id: str
    text: str
    verify: list[list[str]]


class Task(NamedTuple):
    """One task of an issue; ``open`` are the ids of the other tasks that have not passed."""

    id: str
    title: str
    criteria: list[Criterion]
    allowed: list[str]
    base: str
    open: list[str]


def schema(name: str) -> Any:
    """The shipped schema of that name."""
    with open(os.path.join(RESOURCES, f"{name}.schema.json"), encoding="utf-8") as file:
        return json.load(file)


def faults(name: str, value: object, what: str) -> list[str]:
    """Where a value does not meet a shipped schema, each with its place."""
    return [f"{what}: {one}" for one in violations(schema(name), value)]


def profiles() -> list[str]:
    """The names of the shipped profiles."""
    return sorted(name.removesuffix(".json") for name in os.listdir(os.path.join(RESOURCES, "profiles")))


def profile(name: str) -> dict[str, Any]:
    """The shipped profile of that name, or the one in a file of the project. Raises TaskProblem."""
    if name in profiles():
        path = os.path.join(RESOURCES, "profiles", f"{name}.json")
    elif name.endswith(".json") and not checks.path_fault(name):
        path = name
    else:
        raise TaskProblem(f"--profile {name[:200]}: use {', '.join(profiles())}, or a .json file of the project")
    found = _loaded(path)
    wrong = faults("profile", found, f"the profile {name}")
    if not wrong:
        kept = [part for part in ("status", "progress") if part not in found and "tools" not in found]
        wrong = [f"the profile {name}: without tools, it needs {part}" for part in kept]
        wrong += [
            f"the profile {name}: {part} is {found[part]}, which leads out of {found['state']}/"
            for part in PATHS[1:]
            if part in found and not _is_below(found[part], found["state"])
        ]
        own = [found[part] for part in PATHS if part in found]
        wrong += [f"the profile {name}: two files are {path}" for path in checks.repeated(own)]
    if wrong:
        raise TaskProblem(*wrong)
    return dict(found)


def _is_below(path: str, folder: str) -> bool:
    parts = path.split("/")
    return path.startswith(folder + "/") and not {"", ".", ".."} & set(parts)


def path_of(place: Mapping[str, Any], part: str, task: str) -> str:
    """The path of a file that is written for a task."""
    return str(place[part]).replace("{task}", task)


def load(place: Mapping[str, Any], wanted: str, answers: Mapping[str, Any]) -> Task:
    """The task of that id, or the issue's current one; ``answers`` are what the state's tools gave. Raises TaskProblem.

    Files that are there have to say the same as the tools.
    """
    given = _from_tools(place, answers) if "tools" in place else _from_files(place)
    where = "the tools' answers" if "tools" in place else f"{place['issue']}, {place['tasks']}"
    found = chosen(given, wanted, where)
    if "tools" in place and os.path.exists(place["tasks"]):
        kept = chosen({"issue": given["issue"], "tasks": _loaded(place["tasks"])}, found.id, str(place["tasks"]))
        if (kept.criteria, kept.allowed, kept.base) != (found.criteria, found.allowed, found.base):
            tool = place["tools"]["tasks"]
            raise TaskProblem(
                f"{place['tasks']} has another task {found.id} than was reported; give what {tool} answers"
            )
    return found


def chosen(given: Mapping[str, Any], wanted: str, where: str) -> Task:
    """The task of that id among the tasks that were given. Raises TaskProblem."""
    wrong = faults("task", given, where)
    if wrong:
        raise TaskProblem(*wrong)
    tasks = given["tasks"]["tasks"]
    known = [task["id"] for task in tasks]
    if checks.repeated(name.lower() for name in known):
        raise TaskProblem(f"{where}: two tasks are called {checks.repeated(name.lower() for name in known)[0]}")
    name = wanted if wanted != CURRENT else given["issue"].get("status", {}).get("currentTaskId")
    if name is None:
        raise TaskProblem(f"{where}: status.currentTaskId of the issue names no task; begin with --task ID")
    if name not in known:
        raise TaskProblem(f"{where}: there is no task {name[:80]}; there are {', '.join(known[:20])}")
    one = tasks[known.index(name)]
    others = [task["id"] for task in tasks if task["id"] != name and task.get("status") != PASSED]
    texts = [row if isinstance(row, dict) else {"text": row} for row in one["acceptanceCriteria"]]
    criteria = [
        Criterion(f"C{at}", " ".join(row["text"].split()), row.get("verify", [])) for at, row in enumerate(texts, 1)
    ]
    wide = [pattern for pattern in one["filesAllowed"] if ".." in pattern.split("/")]
    if wide:
        raise TaskProblem(
            f"{where}: filesAllowed of {name}: {wide[0]} leads out of the project; write paths from its root"
        )
    return Task(name, one.get("title", ""), criteria, one["filesAllowed"], one.get("base", ""), others)


def _from_files(place: Mapping[str, Any]) -> dict[str, Any]:
    return {"issue": _loaded(place["issue"]), "tasks": _loaded(place["tasks"])}


def _from_tools(place: Mapping[str, Any], answers: Mapping[str, Any]) -> dict[str, Any]:
    lacking = [f"{part}: record what {place['tools'][part]} answers, as JSON" for part in ("issue", "tasks")
               if answers.get(part) is None]  # fmt: skip
    if lacking:
        raise TaskProblem(*lacking)
    tasks = answers["tasks"]
    return {"issue": answers["issue"], "tasks": {"tasks": tasks} if isinstance(tasks, list) else tasks}


def _loaded(path: str) -> Any:
    """The JSON value of a file of the project, or of the skill. Raises TaskProblem."""
    try:
        return json.loads(checks.text(path), object_pairs_hook=_once)
    except FileNotFoundError:
        fitting = " or ".join(f"--profile {name}" for name in profiles() if os.path.isfile(_issue_of(name)))
        what = f"begin with {fitting}, whose issue is there" if fitting else "see which --profile fits"
        raise TaskProblem(f"{path} is not there; {what}, or begin in the project's root") from None
    except RecursionError:
        raise TaskProblem(f"{path} is nested too deeply") from None
    except (OSError, ValueError) as error:
        raise TaskProblem(f"{path} cannot be read: {error}") from None


def _issue_of(name: str) -> str:
    """The path of the issue by a shipped profile."""
    with open(os.path.join(RESOURCES, "profiles", f"{name}.json"), encoding="utf-8") as file:
        return str(json.load(file)["issue"])


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, if no name is given twice in it."""
    twice = checks.repeated(name for name, _ in pairs)
    if twice:
        raise ValueError(f"the name {twice[0]!r} is given twice in one object")
    return dict(pairs)


def answer(text: str) -> Any:
    """The JSON value of an argument; None for a value that was never recorded."""
    return None if re.fullmatch(r"\{[\w.]+\}", text) or not text.strip() else json.loads(text)
