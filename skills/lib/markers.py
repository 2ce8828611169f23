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
            os.write(file, text)
        finally:
            os.close(file)
        os.replace(part, path)
    except OSError:
        remove(project, run_id)


def remove(project: str, run_id: str) -> None:
    """Forget a run that is open no more."""
    try:  # noqa: SIM105  contextlib costs a step 2 ms
        os.unlink(os.path.join(folder(project), run_id))
    except OSError:
        pass


def read(project: str, run_id: str) -> dict[str, Any] | None:
    """What the marker of a run says; None where there is none, or none that can be read."""
    try:
        with open(os.path.join(folder(project), run_id), "rb") as file:
            found = compact_json.loads(file.read().decode())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
