"""The status of each open run in a small file, for an agent host's hook, which must know it quickly.

It holds what the printed block said: the step, the tools that it allows, the command that goes on. It is written with
each block and removed with the last; if it differs from the ledger, the ledger is right. A cloned project may bring
anything in its place: no link is followed, and only a small regular file is read. A file is signed with a key that the
hook keeps in the user's state folder: the hook then knows that a skill which this user ran has written it.
"""

from __future__ import annotations

import os
import stat

from skills.lib import compact_json, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The folder of the status files, beside the ledger.
OPEN = "open"
_IN_AN_ID = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
# The file of the user's key in the state folder, and how many characters it has.
KEY = "key"
KEY_LENGTH = 32
# A longer file (bytes) is not read: Lockstep writes a few hundred.
_LONGEST = 1_000_000
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)
_WORDS = ("run", "workflow", "project", "python", "script", "step", "title", "status", "next")


def is_id(text: str) -> bool:
    """True if a text can be a run's id, and so the name of its status file: letters and digits, with dots between."""
    return 0 < len(text) <= 100 and all(part and _IN_AN_ID.issuperset(part) for part in text.split("."))


def folder(project: str) -> str:
    """The folder of a project's status files."""
    return os.path.join(paths.home(project), OPEN)


def write(project: str, run_id: str, status: dict[str, Any], signs: bool = True, home: str = "") -> None:
    """Write the status of an open run. If that fails, the old file is removed: no status is better than an old one.

    With ``signs`` it is signed, if the user has a key: the script that it names is the one that is running. ``home`` is
    the ledger's folder, if it is another than ``paths.home`` says.
    """
    key = _key() if signs else ""
    if key:
        status = {**status, "signature": compact_json.digest([key, status])}
    path, text = _path(home or paths.home(project), run_id), compact_json.dumps(status).encode()
    for _ in range(2 if path else 0):  # anything else in its place is removed first
        if _written(path, text):
            return
        _remove(path)


def remove(project: str, run_id: str, home: str = "") -> None:
    """Remove the status file of a run that is open no more; ``home`` as in ``write``."""
    path = _path(home or paths.home(project), run_id)
    if path:
        _remove(path)


def _remove(path: str) -> None:
    from skills.lib import files  # a step that writes its status removes nothing

    files.remove(path)


def read(project: str, run_id: str) -> dict[str, Any] | None:
    """The status of an open run; None if its file is missing, damaged or unreadable."""
    path = _path(paths.home(project), run_id)
    try:
        found = compact_json.loads(_content(path).decode()) if path else None
    except (OSError, ValueError, RecursionError):
        return None
    return found if _is_status(found) else None


def is_signed(project: str, run_id: str, status: dict[str, Any]) -> bool:
    """True if a status is of that run and project, and was written by a skill that this user ran."""
    key = _key()
    if not key or status["run"] != run_id or os.path.realpath(status["project"]) != project:
        return False
    rest = {name: value for name, value in status.items() if name != "signature"}
    return bool(status.get("signature") == compact_json.digest([key, rest]))


def read_key(path: str, length: int) -> str:
    """The key in a file; "" if there is none of that length."""
    try:
        key = _content(path).decode()
    except (OSError, ValueError):
        return ""
    return key if len(key) == length else ""


def signature(about: object) -> str:
    """The signature of what is kept for the user; "" if the user has no key."""
    key = _key()
    return compact_json.digest([key, about]) if key else ""


def _key() -> str:
    """The user's key; "" if there is none."""
    return read_key(os.path.join(paths.state(), KEY), KEY_LENGTH)


def read_nearest(project: str, run_id: str) -> dict[str, Any] | None:
    """The status of a run; of a sub-agent's run that has none that of the run which started it."""
    return read(project, run_id) or read(project, run_id.rpartition(".")[0])


def _path(home: str, run_id: str) -> str:
    """The path of a run's status file; "" if the id is invalid, or a link leads to the folder."""
    return "" if not is_id(run_id) or paths.link_in(home, OPEN) else os.path.join(home, OPEN, run_id)


def _written(path: str, text: bytes) -> bool:
    """Write over the file, and return True if the whole text is in it.

    It is written in place on purpose: a rename (``files.write``) takes ten times as long, 0.4 ms of each step. A reader
    that comes in between finds no JSON, and takes that for no status.
    """
    try:
        try:
            file = _opened(path)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
            file = _opened(path)
        try:
            about = os.fstat(file)
            if not stat.S_ISREG(about.st_mode) or about.st_nlink != 1:
                return False
            is_whole = os.write(file, text) == len(text)
            os.truncate(file, len(text))
            return is_whole
        finally:
            os.close(file)
    except OSError:
        return False


def _opened(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | _NO_LINK | _NO_WAIT, 0o600)


def _content(path: str) -> bytes:
    """The content of a file. Raises OSError or ValueError for a link, a device, a pipe, or a file that is too long."""
    file = os.open(path, os.O_RDONLY | _NO_LINK | _NO_WAIT)
    try:
        about = os.fstat(file)
        if not stat.S_ISREG(about.st_mode) or about.st_size > _LONGEST:
            raise ValueError(f"{path} is no status file")
        return os.read(file, _LONGEST)
    finally:
        os.close(file)


def _is_status(found: object) -> bool:
    if not isinstance(found, dict) or not all(isinstance(found.get(name), str) for name in _WORDS):
        return False
    tools, parent = found.get("tools"), found.get("parent")
    are_words = isinstance(tools, list) and all(isinstance(tool, str) for tool in tools)
    return are_words and isinstance(found.get("turn"), int) and isinstance(parent, str | None)
