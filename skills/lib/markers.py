"""A small file per open run, for what must know quickly where a run stands: an agent host's hook.

It says what the printed block said: the step, the tools that it allows, the command that goes on. It is no truth: it
is written anew with each block and removed with the last, and whoever finds it at odds with the ledger believes the
ledger.
"""

from __future__ import annotations

import os

from skills.lib import compact_json, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_IN_AN_ID = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_WORDS = ("run", "workflow", "project", "python", "script", "step", "title", "status", "next")


def is_id(text: str) -> bool:
    """Whether a text can be a run's id, and so the name of its marker: letters and digits, with a dot between."""
    return 0 < len(text) <= 100 and all(part and _IN_AN_ID.issuperset(part) for part in text.split("."))


def folder(project: str) -> str:
    """The folder of a project's markers."""
    return os.path.join(paths.home(project), "open")


def write(project: str, run_id: str, marker: dict[str, Any]) -> None:
    """Say where an open run stands. Where that cannot be written, nothing is said rather than something old."""
    place = folder(project)
    path = os.path.join(place, run_id)
    part = f"{path}.{os.getpid()}.part"
    text = compact_json.dumps(marker).encode()
    try:
        try:
            file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        except FileNotFoundError:
            os.makedirs(place, 0o700, exist_ok=True)
            file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            whole = os.write(file, text) == len(text)
        finally:
            os.close(file)
        if whole:
            os.replace(part, path)
            return
    except OSError:
        pass
    _unlink(part)
    remove(project, run_id)


def remove(project: str, run_id: str) -> None:
    """Forget a run that is open no more."""
    _unlink(os.path.join(folder(project), run_id))


def read(project: str, run_id: str) -> dict[str, Any] | None:
    """What the marker of a run says; None where there is none, or none that is whole and can be read."""
    if not is_id(run_id):
        return None
    try:
        with open(os.path.join(folder(project), run_id), "rb") as file:
            found = compact_json.loads(file.read().decode())
    except (OSError, ValueError):
        return None
    return found if _is_marker(found) else None


def _is_marker(found: object) -> bool:
    if not isinstance(found, dict) or not all(isinstance(found.get(name), str) for name in _WORDS):
        return False
    tools, parent = found.get("tools"), found.get("parent")
    are_words = isinstance(tools, list) and all(isinstance(tool, str) for tool in tools)
    return are_words and isinstance(found.get("turn"), int) and isinstance(parent, str | None)


def _unlink(path: str) -> None:
    try:  # noqa: SIM105  contextlib costs a step 2 ms
        os.unlink(path)
    except OSError:
        pass
