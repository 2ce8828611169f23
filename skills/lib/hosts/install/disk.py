"""Reads and writes below folders that are trusted, and follows no link there; one file at a time, old or new.

A path is walked folder by folder, each opened with O_NOFOLLOW, so that a link put in the way is found at the moment
of the write. A file is written under another name beside its place, synced, and renamed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from skills.lib.errors import EnvironmentProblem, RefusedError

LIMIT = 20_000_000
# A system without these two is refused before anything is opened.
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)


class Disk:
    """The trusted folders; every path given to a method is absolute and below one of them.

    EnvironmentProblem if the system cannot open a folder without following a link, or a file cannot be read or written.
    """

    def __init__(self, bases: tuple[str, ...]) -> None:
        if os.open not in os.supports_dir_fd or not _NOFOLLOW:
            raise EnvironmentProblem(
                f"what is installed cannot be written safely on this system ({os.name})",
                remedy="lockstep export SKILL, and put the copy where the host looks for skills",
            )
        self.root = bases[0]
        self.bases = tuple(sorted(bases, key=len, reverse=True))

    def read(self, path: str) -> bytes | None:
        """A file's content; None if there is none. RefusedError for a link, a hard link, a folder, a device."""
        with self._folder(path) as folder:
            if folder is None or not self._look(path, folder):
                return None
            file = os.open(os.path.basename(path), os.O_RDONLY | _NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
            with os.fdopen(file, "rb") as opened:
                return opened.read()

    def put(self, path: str, data: bytes) -> None:
        """Write a file whole, with the folders that lead to it."""
        name = os.path.basename(path)
        part = _part(name)
        with self._folder(path, make=True) as folder:
            assert folder is not None
            self._look(path, folder)
            _unlink(part, folder)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW
            file = os.open(part, flags, 0o666, dir_fd=folder)
            try:
                with os.fdopen(file, "wb") as opened:
                    opened.write(data)
                    opened.flush()
                    os.fsync(opened.fileno())
                os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)
                os.fsync(folder)
            except OSError:
                _unlink(part, folder)
                raise

    def remove(self, path: str) -> None:
        """Remove a file, or a link itself; nothing if there is none."""
        with self._folder(path) as folder:
            if folder is not None:
                _unlink(os.path.basename(path), folder)

    def drop_part(self, path: str) -> None:
        """Remove what an interrupted ``put`` left beside a path."""
        self.remove(os.path.join(os.path.dirname(path), _part(os.path.basename(path))))

    def prune(self, path: str) -> None:
        """Remove the folders above a path that are empty, in the bases and but for the first of these."""
        place = os.path.dirname(path)
        while place != self.root and any((place + os.sep).startswith(base + os.sep) for base in self.bases):
            if place in self.bases:
                with suppress(OSError):
                    os.rmdir(place)
            else:
                with self._folder(place) as folder, suppress(OSError):
                    if folder is not None:
                        os.rmdir(os.path.basename(place), dir_fd=folder)
            if os.path.lexists(place):
                return
            place = os.path.dirname(place)

    def names(self, path: str) -> list[str]:
        """The names in a folder; none if there is no such folder, or a link in its place."""
        with self._folder(os.path.join(path, "x")) as folder:
            return sorted(os.listdir(folder)) if folder is not None else []

    def _split(self, path: str) -> tuple[str, list[str]]:
        """The base that a path is below, and its parts from there."""
        odd = any(ord(char) < 32 or ord(char) == 127 for char in path)
        if odd or not os.path.isabs(path) or os.path.normpath(path) != path:
            raise RefusedError(f"{path!r:.300} is no path to write to")
        for base in self.bases:
            if path.startswith(base.rstrip(os.sep) + os.sep):
                return base, path[len(base.rstrip(os.sep)) + 1 :].split(os.sep)
        raise RefusedError(
            f"{path} is outside {' and '.join(self.bases)}", remedy="nothing is written or removed there"
        )

    @contextmanager
    def _folder(self, path: str, make: bool = False) -> Iterator[int | None]:
        """The folder of a path, opened without following a link below the base; None if it is missing and not made."""
        base, parts = self._split(path)
        opened, place = None, base
        with ExitStack() as stack:
            try:
                if make and not os.path.isdir(base):
                    os.makedirs(base, exist_ok=True)
                try:
                    opened = os.open(base, _FOLDER)
                    stack.callback(os.close, opened)
                    for part in parts[:-1]:
                        place = os.path.join(place, part)
                        opened = _open(part, opened, make)
                        stack.callback(os.close, opened)
                except FileNotFoundError:
                    opened = None
                yield opened
            except NotADirectoryError:
                raise _in_the_way(place, "a link" if os.path.islink(place) else "no folder") from None
            except OSError as error:
                if os.path.islink(place):
                    raise _in_the_way(place, "a link") from None
                raise EnvironmentProblem(
                    f"{path} cannot be read or written: {error.strerror or error}",
                    remedy="make room or give access, then run the same command again: it completes what was begun",
                ) from error

    @staticmethod
    def _look(path: str, folder: int) -> bool:
        """True if a file is there that may be read and replaced; RefusedError for what is no file of its own."""
        try:
            found = os.stat(os.path.basename(path), dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        if stat.S_ISLNK(found.st_mode):
            raise _in_the_way(path, "a link")
        if not stat.S_ISREG(found.st_mode):
            raise _in_the_way(path, "no regular file")
        if found.st_nlink > 1:
            raise _in_the_way(path, "a file with a second name (a hard link)")
        if found.st_size > LIMIT:
            raise _in_the_way(path, f"larger than {LIMIT:,} bytes")
        return True


def _open(name: str, folder: int, make: bool) -> int:
    try:
        return os.open(name, _FOLDER | _NOFOLLOW, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=folder)
    return os.open(name, _FOLDER | _NOFOLLOW, dir_fd=folder)


def _unlink(name: str, folder: int) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def _part(name: str) -> str:
    return f".{name}.lockstep.part"


def _in_the_way(path: str, what: str) -> RefusedError:
    return RefusedError(
        f"{path} is {what}, and is neither followed nor replaced",
        remedy="put a plain file or folder there, or move it away; then run the same command again",
    )
