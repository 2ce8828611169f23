"""How a command of the gateway ended: kept by ``lockstep gateway run``, for the hook of a host that does not say it.

There is one small file for each command line, in the user's state folder, which no project contains. It is signed as
status files are, and it is read once.
"""

from __future__ import annotations

import os
import time

from skills.lib import compact_json, files, paths, status_files, user_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

# A file that is older (seconds) is not read, and is removed when another is written.
FORGOTTEN = 600
_LONGEST = 10_000


def folder() -> str:
    """The folder of these files, in the folder of what Lockstep keeps for a user."""
    return os.path.join(paths.state(), "gateway-results")


def keep(words: Sequence[str], project: str, exit: int | None) -> None:
    """Keep how ``lockstep`` with these words ended in a project, if it can be written; None is its time limit."""
    user_key.make()
    about: dict[str, Any] = {"words": list(words), "project": os.path.realpath(project), "exit": exit}
    about["at"] = time.time()
    about["signature"] = status_files.signature(about)
    try:
        files.write(_path(words), compact_json.dumps(about).encode())
        for name in os.listdir(folder()):
            path = os.path.join(folder(), name)
            if time.time() - os.stat(path).st_mtime > FORGOTTEN:
                files.remove(path)
    except (OSError, ValueError):
        return


def take(words: Sequence[str], project: str) -> int | None:
    """The exit code with which ``lockstep`` with these words has ended in a project; None if that is not known.

    It is given once: a later call of the same line has to end anew.
    """
    try:
        found = compact_json.loads(files.read(_path(words), _LONGEST).decode())
        signature = found.pop("signature", "")
        is_signed = bool(signature) and signature == status_files.signature(found)
        is_this = (found["words"], found["project"]) == (list(words), os.path.realpath(project))
        if not (is_signed and is_this and 0 <= time.time() - found["at"] <= FORGOTTEN):
            return None
        files.remove(_path(words))
        return found["exit"] if type(found["exit"]) is int else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _path(words: Sequence[str]) -> str:
    return os.path.join(folder(), compact_json.digest(list(words)))
