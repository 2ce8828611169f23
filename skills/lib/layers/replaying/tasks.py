"""What is known of a task beside the sessions that worked on it: its files, its criteria, and what is right."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skills.lib import compact_json
from skills.lib.errors import EnvironmentProblem, UsageError, did_you_mean, nearest
from skills.lib.layers.replaying.verdicts import TASK, id_of, mark_of
from skills.lib.record import Record

# The end of the name of a task's file, beside the session of the same name.
ENDING = ".task.json"
_LARGEST = 1_000_000
_FIELDS = ("id", "title", "filesAllowed", "artifacts", "acceptanceCriteria", "checks", "tools", "folder", "expect")
_EXAMPLE = '{"id": "T1", "filesAllowed": ["src/**"], "expect": {"verdict": "FAIL", "criteria": {"AC1": "PASS"}}}'
# What a session writes to report, which no task names among its files.
ARTIFACTS = (".jeeves/**", ".lockstep/**", ".lockstep-task/**")


class Task(Record):
    """A task. ``files`` is None if nobody says which files it may change.

    ``criteria`` are the ids of what is judged. ``checks`` are command lines whose failure is an answer, ``tools`` what
    the session offers if its own record does not say it. ``expected`` has the verdicts that are right by the id of the
    criterion, with TASK for the whole.
    """

    id: str = ""
    files: tuple[str, ...] | None = None
    artifacts: tuple[str, ...] = ARTIFACTS
    criteria: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    folder: str = ""
    expected: Mapping[str, frozenset[str]] = {}

    def allows(self) -> Callable[[str], bool]:
        """Return a function that is true for a path that the task may change, or that is a report of it."""
        from skills.lib.ledger import globs

        # Below a file there is nothing, so that no pattern is taken for the name of something that is there.
        matches = globs.matcher(os.devnull, [*(self.files or ()), *self.artifacts])
        return lambda path: bool(matches(path))


def read(file: str) -> Task:
    """The task of a file. Raises UsageError that names it."""
    try:
        with open(file, encoding="utf-8-sig") as opened:
            text = opened.read(_LARGEST + 1)
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8 text", remedy=_EXAMPLE) from error
    except FileNotFoundError as error:
        raise UsageError(f"{file} does not exist", remedy=_EXAMPLE) from error
    except (OSError, ValueError) as error:
        raise EnvironmentProblem(f"{file} cannot be read: {error}", remedy="name the file of a task") from error
    try:
        data = compact_json.loads(text, strict=True)
    except ValueError as error:
        raise UsageError(f"{file}: this is no JSON: {error}", remedy=_EXAMPLE) from None
    if len(text) > _LARGEST or not isinstance(data, dict):
        raise UsageError(f"{file}: a task is an object of at most {_LARGEST // 1_000_000} MB", remedy=_EXAMPLE)
    for name in data:
        if name not in _FIELDS:
            raise UsageError(
                f"{file}: a task has no {name!r:.60}{did_you_mean(nearest(name, _FIELDS))}", valid=", ".join(_FIELDS)
            )
    return _task(data, file)


def _task(data: Mapping[str, Any], file: str) -> Task:
    expected = data.get("expect", {})
    if not isinstance(expected, dict) or not isinstance(expected.get("criteria", {}), dict):
        raise UsageError(f"{file}: expect is an object with verdict and criteria", remedy=_EXAMPLE)
    for name in expected:
        if name not in ("verdict", "criteria"):
            raise UsageError(f"{file}: expect has no {name!r:.60}", valid="verdict, criteria")
    right = {id_of(name): _marks(mark, file) for name, mark in expected.get("criteria", {}).items()}
    if "verdict" in expected:
        right[TASK] = _marks(expected["verdict"], file)
    given = data.get("acceptanceCriteria", [])
    criteria = _criteria(given if isinstance(given, list) else [])
    return Task(
        _text(data, "id", file),
        _texts(data, "filesAllowed", file) if "filesAllowed" in data else None,
        _texts(data, "artifacts", file) if "artifacts" in data else ARTIFACTS,
        tuple(dict.fromkeys([*criteria, *[name for name in right if name != TASK]])),
        tuple(" ".join(line.split()) for line in _texts(data, "checks", file)),
        _texts(data, "tools", file),
        _text(data, "folder", file),
        right,
    )


def _criteria(given: Sequence[Any]) -> list[str]:
    """The ids of criteria: those of objects, else their numbers in the list."""
    ids = [one.get("id") if isinstance(one, dict) else None for one in given]
    return [id_of(one) if isinstance(one, str) else str(at) for at, one in enumerate(ids, 1)]


def _marks(given: Any, file: str) -> frozenset[str]:
    marks = [mark_of(one) for one in (given if isinstance(given, list) else [given])]
    if not marks or not all(marks):
        raise UsageError(f"{file}: {given!r:.60} is no verdict", valid="PASS, FAIL, INCONCLUSIVE, or a list of these")
    return frozenset(marks)


def _text(data: Mapping[str, Any], name: str, file: str) -> str:
    found = data.get(name, "")
    if not isinstance(found, str):
        raise UsageError(f"{file}: {name} is a text", remedy=_EXAMPLE)
    return found


def _texts(data: Mapping[str, Any], name: str, file: str) -> tuple[str, ...]:
    found = data.get(name, [])
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise UsageError(f"{file}: {name} is a list of texts", remedy=_EXAMPLE)
    return tuple(found)
