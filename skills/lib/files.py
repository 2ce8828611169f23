"""Files and folders that are written whole or not at all: under another name beside, and then renamed.

Two writers have reasons for a way of their own: ``status_files`` writes in place, for speed,
and ``hosts/install/disk.py`` follows no link on the way to a file.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# The end of the name of a file that is being written, or that a stopped process left.
PART = ".part"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def write(path: str, data: bytes) -> None:
    """Replace a file, and make missing folders for their owner alone. Raises OSError and then leaves the old file."""
    # Nobody can guess the name, and so put a link there; and the same command may run twice at once.
    part = f"{path}.{os.urandom(8).hex()}{PART}"
    try:
        os.makedirs(os.path.dirname(path) or ".", 0o700, exist_ok=True)
        with open(os.open(part, _NEW, 0o666), "wb") as file:
            file.write(data)
        os.replace(part, path)
    except OSError:
        remove(part)
        raise


def remove(path: str) -> None:
    """Remove a file if it is there and can be removed."""
    try:  # noqa: SIM105  contextlib costs a step 2 ms
        os.unlink(path)
    except OSError:
        pass


def write_folder(folder: str, contents: Mapping[str, bytes], replace: bool = False) -> None:
    """Write a folder with these files, by their path below it.

    A folder that is already there is only replaced with ``replace``, and comes back if that fails. Raises OSError;
    nothing is left behind then. A stopped process leaves a folder beside, whose name begins with a dot.
    """
    import errno
    import shutil  # a step writes no folder, and these two cost 5 ms
    import tempfile

    parent, name = os.path.split(folder)
    os.makedirs(parent, exist_ok=True)
    draft = tempfile.mkdtemp(prefix=f".{name}-", dir=parent)
    new, old = os.path.join(draft, "new"), os.path.join(draft, "old")
    try:
        for path, data in contents.items():
            target = os.path.join(new, *path.split("/"))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, "xb") as file:
                file.write(data)
        if replace and os.path.lexists(folder):
            os.rename(folder, old)
        if os.path.lexists(folder):
            raise FileExistsError(errno.EEXIST, "it is there already", folder)
        os.rename(new, folder)
    finally:
        if os.path.lexists(old) and not os.path.lexists(folder):
            os.rename(old, folder)
        shutil.rmtree(draft, ignore_errors=True)
