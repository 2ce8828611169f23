"""The tools that every step offers: ``todowrite`` and ``todoread``, a list of a run's own, and ``abort``."""

from __future__ import annotations

import json
import os

from skills.lib import files
from skills.lib.agent.tools.tool import Result, Tool
from skills.lib.errors import EnvironmentProblem, UsageError
from skills.lib.gateway import tree_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

FOLDER = "todos"
# How many entries a list has, and how many characters an entry and a reason.
ENTRIES, LONGEST, REASON = 100, 500, 2_000
_STATUS = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}
_LARGEST = 1 << 20


def tools(home: str, run: str) -> list[Tool]:
    """The essential tools of a run; ``home`` is the folder of the ledger."""
    folder = os.path.join(os.path.realpath(home), "agent", FOLDER)
    own, _, child = run.partition(".")
    is_id = bool(own) and all(char.isascii() and (char.isalnum() or char in "-_") for char in own)
    if not is_id or not (child or "0").isdigit() or not run.isascii():
        raise UsageError(f"{run!r:.80} is no id of a run", valid="letters, digits, hyphens, and a sub-agent's number")
    path = os.path.join(folder, f"{run}.json")

    def todowrite(todos: Sequence[dict[str, Any]]) -> Result:
        data = json.dumps(todos, ensure_ascii=False, indent=1).encode()
        tree_files.write(path, data, 0o600)
        return Result(_listed(todos))

    def todoread() -> Result:
        return Result(_listed(_read(path)))

    def abort(reason: str) -> Result:
        if not reason.strip():
            raise UsageError("abort: the reason is empty", valid="why the work cannot be done, in a sentence")
        return Result(f"The session ends: {reason}\n", {"reason": reason})

    entry = {
        "type": "object",
        "properties": {
            "content": {"type": "string", "minLength": 1, "maxLength": LONGEST},
            "status": {"enum": list(_STATUS)},
        },
        "required": ["content", "status"],
        "additionalProperties": False,
    }
    reason = {"type": "string", "minLength": 1, "maxLength": REASON, "description": "Why the work cannot be done."}
    return [
        Tool(
            name="abort",
            about="Give up: end this session. The run stays open where it is, and does not count as done.",
            parameters={"reason": reason},
            required=("reason",),
            run=abort,
            ends=True,
        ),
        Tool(
            name="todowrite",
            about="Replace your list of todos: a note for yourself, which no step reads as a report.",
            parameters={
                "todos": {"type": "array", "items": entry, "maxItems": ENTRIES, "description": "The whole list."}
            },
            required=("todos",),
            run=todowrite,
        ),
        Tool(
            name="todoread",
            about="Read your list of todos.",
            parameters={},
            required=(),
            run=todoread,
            reads=True,
        ),
    ]


def _read(path: str) -> list[dict[str, Any]]:
    """The list that is kept; empty if none is. Raises EnvironmentProblem for a file that is no list."""
    try:
        todos = json.loads(files.read(path, _LARGEST))
        return [{"content": str(one["content"]), "status": _known(one["status"])} for one in todos]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise EnvironmentProblem(f"{path} cannot be read: {error}", remedy="write the list anew by todowrite") from None


def _known(status: str) -> str:
    if status not in _STATUS:
        raise ValueError(f"{status!r:.40} is no status")
    return status


def _listed(todos: Sequence[dict[str, Any]]) -> str:
    if not todos:
        return "The list is empty.\n"
    lines = [f"{_STATUS[one['status']]} {one['content']}\n" for one in todos]
    done = sum(one["status"] == "completed" for one in todos)
    return "".join([*lines, f"[{done} of {len(todos)} done]\n"])
