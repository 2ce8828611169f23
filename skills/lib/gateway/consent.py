"""A person's consent to a project's own gateway file: without it, and after any change, none of its commands is known.

It is kept in the user's state folder, where nothing comes with a cloned project, for one project and one content, and
is signed as status files are.
"""

from __future__ import annotations

import os

from skills.lib import consents, files, paths
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
    return consents.is_given(FOLDER, _about(project, data))


def give(project: str, data: bytes) -> None:
    """Keep a person's consent. Raises EnvironmentProblem if it cannot be kept."""
    consents.give(FOLDER, _about(project, data))


def withdraw(project: str, data: bytes) -> None:
    """Forget a consent."""
    consents.withdraw(FOLDER, _about(project, data))


def _about(project: str, data: bytes) -> dict[str, str]:
    from hashlib import sha256

    return {"project": os.path.realpath(project), "digest": sha256(data).hexdigest()}
