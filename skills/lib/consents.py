"""What a person has consented to, in the user's state folder: nothing there comes with a cloned project.

A consent is a file with what it is about, signed with the user's key as status files are.
"""

from __future__ import annotations

import os

from skills.lib import compact_json, files, paths, status_files, user_key
from skills.lib.errors import EnvironmentProblem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def is_given(kind: str, about: Mapping[str, str]) -> bool:
    """True if a person has consented to exactly this; ``kind`` is the folder of consents of one kind."""
    try:
        found = compact_json.loads(files.read(_path(kind, about), 10_000).decode())
    except (OSError, ValueError):
        return False
    signature = status_files.signature(dict(about))
    return bool(signature) and found == {**about, "signature": signature}


def give(kind: str, about: Mapping[str, str]) -> None:
    """Keep a person's consent. Raises EnvironmentProblem if it cannot be kept."""
    user_key.make()
    signature = status_files.signature(dict(about))
    path = _path(kind, about)
    try:
        if not signature:
            raise PermissionError(0, "no key can be kept", paths.state())
        files.write(path, compact_json.dumps({**about, "signature": signature}).encode())
    except OSError as error:
        raise EnvironmentProblem(
            f"the consent cannot be kept in {os.path.dirname(path)}: {error.strerror or error}",
            remedy="LOCKSTEP_STATE names a folder that can be written",
        ) from error


def withdraw(kind: str, about: Mapping[str, str]) -> None:
    """Forget a consent."""
    files.remove(_path(kind, about))


def _path(kind: str, about: Mapping[str, str]) -> str:
    return os.path.join(paths.state(), kind, compact_json.digest(dict(about)))
