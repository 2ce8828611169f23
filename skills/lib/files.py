"""Files that are read only if they are regular, and files and folders that are written whole or not at all.

What is written has another name at first, beside, and is then renamed.

Two writers have reasons for a way of their own: ``status_files`` writes in place, for speed,
and ``hosts/install/disk.py`` follows no link on the way to a file.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# The end of the name of a file that is being written, or that a stopped process left.
PART = ".part"
# A FIFO, a device or a socket is not waited for.
_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_READ_AT_ONCE = 1 << 20
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


class NotRegular(OSError):
    """What has the file's name is a FIFO, a device, a socket or a folder."""


class TooLarge(OSError):
    """The file has more bytes than are read."""


def read(path: str | os.PathLike[str], limit: int) -> bytes:
    """The content of a regular file, its links followed; nothing else is opened or waited for.

    Raises NotRegular, TooLarge if there are more than ``limit`` bytes, and OSError.
    """
    _require_regular(os.stat(path), path)  # to open a device may do something
    file = os.open(path, os.O_RDONLY | _NO_WAIT)
    try:
        _require_regular(os.fstat(file), path)
        parts, left = [], limit + 1
        while left and (part := os.read(file, min(left, _READ_AT_ONCE))):
            parts.append(part)
            left -= len(part)
    finally:
        os.close(file)
    if not left:
        raise TooLarge(0, f"it is larger than {limit:,} bytes", os.fspath(path))
    return b"".join(parts)


def _require_regular(about: os.stat_result, path: str | os.PathLike[str]) -> None:
    if not stat.S_ISREG(about.st_mode):
        raise NotRegular(0, "it is not a regular file", os.fspath(path))


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
