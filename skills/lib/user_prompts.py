"""What a person says to their agent while a run waits for an answer: kept by the hook of a host, read by the engine.

There is one small file for each run that waits, in the user's state folder, which no project contains. It is signed as
status files are, and removed when the run moves.
"""

from __future__ import annotations

import os
import time

from skills.lib import compact_json, files, paths, status_files, user_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# How many prompts are kept of one question, and how many characters of each.
KEPT, LONGEST = 8, 2_000
# A file that is older (seconds) is of a run that was removed.
FORGOTTEN = 30 * 24 * 3600


def folder() -> str:
    """The folder of these files, in the folder of what Lockstep keeps for a user."""
    return os.path.join(paths.state(), "prompts")


def keep(project: str, run: str, turn: int, prompt: str) -> None:
    """Keep a prompt that came after the question which a run puts at this turn, if it can be written."""
    # Of a longer one an end that says the opposite would be cut off: it answers nothing, nor do those before it.
    prompts = [*read(project, run, turn), prompt if len(prompt) <= LONGEST else ""][-KEPT:]
    about: dict[str, Any] = {"project": project, "run": run, "turn": turn, "prompts": prompts}
    user_key.make()
    about["signature"] = status_files.signature(about)
    try:
        files.write(_path(project, run), compact_json.dumps(about).encode())
        for name in os.listdir(folder()):
            path = os.path.join(folder(), name)
            if time.time() - os.stat(path).st_mtime > FORGOTTEN:
                files.remove(path)
    except OSError:
        return


def read(project: str, run: str, turn: int) -> list[str]:
    """What the person said since the question that the run puts at this turn, in order; empty if nothing is known."""
    try:
        found = compact_json.loads(files.read(_path(project, run), 100_000).decode())
        signature = found.pop("signature", "")
        asked = (found["project"], found["run"], found["turn"])
        is_signed = bool(signature) and signature == status_files.signature(found)
        return list(found["prompts"]) if is_signed and asked == (project, run, turn) else []
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return []


def remove(project: str, run: str) -> None:
    """Forget what was said to a run's question, for it has moved."""
    files.remove(_path(project, run))


def _path(project: str, run: str) -> str:
    return os.path.join(folder(), compact_json.digest([project, run]))
