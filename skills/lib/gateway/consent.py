"""A person's consent to a project's own gateway file: without it, and after any change, none of its commands is known.

It is kept in the user's state folder, where nothing comes with a cloned project, for one project and one content, and
is signed as status files are.
"""

from __future__ import annotations

import os

from skills.lib import compact_json, files, paths, status_files, user_key
from skills.lib.errors import EnvironmentProblem
from skills.lib.gateway.fields import GatewayFileError
from skills.lib.gateway.places import GATEWAY_FILE
from skills.lib.gateway.reading import FILE_LIMIT

# The folder of consents, in the folder of what Lockstep keeps for a user.
FOLDER = "gateway"


def read(project: str) -> bytes | None:
    """The content of the project's gateway file; None if it has none. Raises GatewayFileError."""
    path = os.path.join(project, GATEWAY_FILE)
    if not os.path.lexists(path):
        return None
    if not paths.is_within(project, path):
        raise GatewayFileError(f"{path} is a link out of the project", remedy="put a file in its place")
    try:
        return files.read(path, FILE_LIMIT)
    except OSError as error:
        raise GatewayFileError(f"{path} cannot be read: {error.strerror or error}") from error


def is_given(project: str, data: bytes) -> bool:
    """True if a person has consented to this content of this project's file."""
    about = _about(project, data)
    try:
        found = compact_json.loads(files.read(_path(project, data), 10_000).decode())
    except (OSError, ValueError):
        return False
    signature = status_files.signature(about)
    return bool(signature) and found == {**about, "signature": signature}


def give(project: str, data: bytes) -> None:
    """Keep a person's consent. Raises EnvironmentProblem if it cannot be kept."""
    user_key.make()
    about = _about(project, data)
    signature = status_files.signature(about)
    path = _path(project, data)
    try:
        if not signature:
            raise PermissionError(0, "no key can be kept", paths.state())
        files.write(path, compact_json.dumps({**about, "signature": signature}).encode())
    except OSError as error:
        raise EnvironmentProblem(
            f"the consent cannot be kept in {os.path.dirname(path)}: {error.strerror or error}",
            remedy="LOCKSTEP_STATE names a folder that can be written",
        ) from error


def withdraw(project: str, data: bytes) -> None:
    """Forget a consent."""
    files.remove(_path(project, data))


def _about(project: str, data: bytes) -> dict[str, str]:
    from hashlib import sha256

    return {"project": os.path.realpath(project), "digest": sha256(data).hexdigest()}


def _path(project: str, data: bytes) -> str:
    return os.path.join(paths.state(), FOLDER, compact_json.digest(_about(project, data)))
