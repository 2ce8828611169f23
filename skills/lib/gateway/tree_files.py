"""Opens files and folders by descriptors, from a root down, so that no link that is put there meanwhile is followed.

A path is resolved first (``places``): none of its parts is a link then. Each part is opened below the one before it
and must still be no link, so what was checked is what is used. Windows has no such calls: there a path is opened as
it is.
"""

from __future__ import annotations

import contextlib
import os
import stat

from skills.lib.errors import EnvironmentProblem, RefusedError
from skills.lib.files import PART

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

HAS_DESCRIPTORS = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FOLDER = os.O_RDONLY | _NO_LINK | getattr(os, "O_DIRECTORY", 0)
# A folder on the way need not be readable.
_WAY = getattr(os, "O_PATH", os.O_RDONLY) | _NO_LINK | getattr(os, "O_DIRECTORY", 0)
_FILE = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | getattr(os, "O_BINARY", 0)


class Place:
    """A name in an open folder; ``below`` is the descriptor of the folder, or None where there are no such calls."""

    def __init__(self, path: str, name: str, below: int | None) -> None:
        self.path = path
        self.name = name
        self.below = below

    def about(self) -> os.stat_result | None:
        """What is there, a link as a link; None if nothing is. Raises EnvironmentProblem."""
        with told(self.path), contextlib.suppress(FileNotFoundError):
            return os.stat(self.name, dir_fd=self.below, follow_symlinks=False)
        return None


@contextlib.contextmanager
def opened(path: str, make: bool = False) -> Iterator[Place]:
    """The place of a resolved path, its folder open meanwhile; missing folders are made with ``make``.

    Raises RefusedError if a part has become a link, and EnvironmentProblem if a folder is missing or closed to us.
    """
    parent, name = os.path.split(path)
    if not HAS_DESCRIPTORS:
        with told(path):
            if make:
                os.makedirs(parent, exist_ok=True)
        yield Place(path, path, None)
        return
    with told(path):
        folder = _open_folder(parent, make)
    try:
        yield Place(path, name or ".", folder)
    finally:
        os.close(folder)


def _open_folder(path: str, make: bool) -> int:
    """The descriptor of a folder, opened part by part from the file system's root."""
    at = os.open(os.sep, _WAY)
    try:
        for part in filter(None, path.split(os.sep)):
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, dir_fd=at)
            below = os.open(part, _WAY, dir_fd=at)
            os.close(at)
            at = below
    except OSError:
        os.close(at)
        raise
    return at


@contextlib.contextmanager
def told(path: str) -> Iterator[None]:
    """Turn an OSError about a path into an error that says what to do."""
    import errno

    try:
        yield
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and _has_link(path):
            raise RefusedError(
                f"{path:.300}: a link was put there after the path was checked", remedy="see what changes the folder"
            ) from error
        remedy = {
            errno.ENOENT: "list_files shows what there is",
            errno.EXDEV: "copy it: the two places are on different disks",
            errno.ENOTDIR: "a part of the path is a file: list_files shows what there is",
        }.get(error.errno or 0, "")
        raise EnvironmentProblem(f"{path:.300}: {error.strerror or error}", remedy=remedy) from error


def _has_link(path: str) -> bool:
    """True if a part of a path is a link, or vanishes while this looks for one."""
    try:
        return os.path.realpath(path) != path
    except OSError:
        return True


@contextlib.contextmanager
def regular(place: Place) -> Iterator[int]:
    """The descriptor of a regular file, open for reading; nothing else is waited for. Raises EnvironmentProblem."""
    with told(place.path):
        file = os.open(place.name, _FILE, dir_fd=place.below)
    try:
        mode = os.fstat(file).st_mode
        if not stat.S_ISREG(mode):
            what = "a folder" if stat.S_ISDIR(mode) else "no regular file"
            raise EnvironmentProblem(f"{place.path} is {what}", remedy="list_files shows what there is")
        yield file
    finally:
        os.close(file)


@contextlib.contextmanager
def listed(place: Place) -> Iterator[Iterator[os.DirEntry[str]]]:
    """The entries of a folder. Raises EnvironmentProblem if it is none."""
    with told(place.path):
        folder = os.open(place.name, _FOLDER, dir_fd=place.below) if HAS_DESCRIPTORS else -1
        try:
            with os.scandir(folder if HAS_DESCRIPTORS else place.path) as entries:
                yield entries
        finally:
            if folder >= 0:
                os.close(folder)


@contextlib.contextmanager
def replacing(place: Place, mode: int = 0o666) -> Iterator[int]:
    """The descriptor of a new file that takes the place's name at the end; if something fails it is removed again.

    What had the name before is replaced and never written into: neither a link nor another name of the file changes.
    """
    about = place.about()
    if about is not None and not stat.S_ISREG(about.st_mode):
        raise EnvironmentProblem(f"{place.path} is there, and is no regular file", remedy="give another path")
    part = f"{place.path if place.below is None else '.' + place.name[:100]}.{os.urandom(8).hex()}{PART}"
    with told(place.path):
        file = os.open(part, _NEW, mode, dir_fd=place.below)
        try:
            yield file
            os.close(file)
            file = -1
            os.replace(part, place.name, src_dir_fd=place.below, dst_dir_fd=place.below)
        except BaseException:
            if file >= 0:
                os.close(file)
            with contextlib.suppress(OSError):
                os.unlink(part, dir_fd=place.below)
            raise


def write(path: str, data: bytes, mode: int | None = None) -> None:
    """Write a file at a resolved path, whole or not at all; missing folders are made.

    It gets the permissions ``mode``, or those of every new file.
    """
    with opened(path, make=True) as place, replacing(place, 0o666 if mode is None else mode) as file:
        if mode is not None and hasattr(os, "fchmod"):
            os.fchmod(file, mode)
        left = memoryview(data)
        while left:
            left = left[os.write(file, left) :]
