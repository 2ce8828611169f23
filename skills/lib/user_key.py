"""Makes the key by which a user's own files are known."""

from __future__ import annotations

import os

from skills.lib import files, paths
from skills.lib.status_files import KEY, KEY_LENGTH, read_key


def make() -> None:
    """Make the user's key if there is none. Does nothing if it cannot be written: then nothing is signed."""
    if not read_key(os.path.join(paths.state(), KEY), KEY_LENGTH):
        try:  # noqa: SIM105  contextlib costs a step 2 ms
            make_at(os.path.join(paths.state(), KEY), KEY_LENGTH)
        except OSError:
            pass


def make_at(path: str, length: int) -> None:
    """Make a key for its owner alone; two that do so at once have the first one's. Raises OSError."""
    part = f"{path}.{os.urandom(8).hex()}.part"
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            os.write(file, os.urandom(length // 2).hex().encode())
        finally:
            os.close(file)
        if os.path.lexists(path) and not read_key(path, length):  # it is damaged
            os.unlink(path)
        try:  # noqa: SIM105
            os.link(part, path)  # unlike a rename, it leaves a key that another process has made by now
        except FileExistsError:
            pass
    finally:
        files.remove(part)
