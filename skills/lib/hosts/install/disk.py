"""Reads and writes below folders that are trusted, and follows no link there; one file at a time, old or new.

A path is walked folder by folder, each opened with O_NOFOLLOW, so that a link put in the way is found at the moment
of the write. A file is written under another name beside its place, synced, and renamed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from skills.lib.errors import EnvironmentProblem, RefusedError

LIMIT = 20_000_000
# A system without these two is refused before anything is opened.
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)


def _nothing(operation: str, path: str) -> None:
    """What happens between two operations: nothing."""


# Called before each operation that changes the disk, with its name and the path; tests stop the process here.
before: Callable[[str, str], None] = _nothing


class Disk:
    """The trusted folders; every path given to a method is absolute and below one of them.

    EnvironmentProblem where the system cannot open a folder without following a link.
    """

    def __init__(self, bases: tuple[str, ...]) -> None:
        if os.open not in os.supports_dir_fd or not _NOFOLLOW:
            raise EnvironmentProblem(
                f"what is installed cannot be written safely on this system ({os.name})",
                remedy="lockstep export SKILL, and put the copy where the host looks for skills",
            )
        self.bases = tuple(sorted(bases, key=len, reverse=True))

    def read(self, path: str) -> bytes | None:
        """A file's content; None where there is none. RefusedError for a link, a hard link, a folder, a device."""
        with self._folder(path) as folder:
            if folder is None:
                return None
            try:
                if not self._look(path, folder):
                    return None
                file = os.open(os.path.basename(path), os.O_RDONLY | _NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
            except OSError as error:
                raise self._failed(path, error) from error
            with os.fdopen(file, "rb") as opened:
                return opened.read()

    def stage(self, path: str, data: bytes, tag: str) -> None:
        """Write what is to stand at the path beside it, synced."""
        part = _part(path, tag)
        with self._folder(path) as folder:
            try:
                if folder is None:
                    raise FileNotFoundError(2, "the folder is gone", path)
                before("create", part)
                file = os.open(
                    os.path.basename(part), os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW, 0o666, dir_fd=folder
                )
                with os.fdopen(file, "wb", buffering=0) as opened:
                    half = len(data) // 2
                    _write(opened.fileno(), data[:half])
                    before("write", part)
                    _write(opened.fileno(), data[half:])
                    before("sync", part)
                    os.fsync(opened.fileno())
            except OSError as error:
                raise self._failed(path, error) from error

    def commit(self, path: str, tag: str) -> None:
        """Put what was staged in its place."""
        with self._folder(path) as folder:
            try:
                if folder is None:
                    raise FileNotFoundError(2, "the folder is gone", path)
                self._look(path, folder)
                before("rename", path)
                os.rename(
                    os.path.basename(_part(path, tag)), os.path.basename(path), src_dir_fd=folder, dst_dir_fd=folder
                )
            except OSError as error:
                raise self._failed(path, error) from error

    def put(self, path: str, data: bytes, tag: str) -> None:
        """Write one file at once."""
        self.drop_staged(path, tag)
        self.stage(path, data, tag)
        self.commit(path, tag)
        self.sync([path])

    def sync(self, paths: Iterable[str]) -> None:
        """Have the disk keep the names in the folders of these paths."""
        for path in {os.path.dirname(path): path for path in paths}.values():
            with self._folder(path) as folder:
                if folder is not None:
                    os.fsync(folder)

    def is_staged(self, path: str, tag: str) -> bool:
        """Whether something is staged for the path."""
        return self.read(_part(path, tag)) is not None

    def drop_staged(self, path: str, tag: str) -> None:
        """Remove what was staged for the path, if anything was."""
        self.remove(_part(path, tag))

    def remove(self, path: str) -> None:
        """Remove a file, or a link itself; nothing where there is none."""
        with self._folder(path) as folder:
            if folder is None:
                return
            try:
                os.stat(os.path.basename(path), dir_fd=folder, follow_symlinks=False)
                before("remove", path)
                os.unlink(os.path.basename(path), dir_fd=folder)
            except FileNotFoundError:
                return
            except OSError as error:
                raise self._failed(path, error) from error

    def missing_folders(self, path: str) -> list[str]:
        """The folders that have to be made for a file at the path, outermost first."""
        base, parts = self._split(path)
        found = []
        place = base
        if not os.path.isdir(base):
            inside = any(base.startswith(other + os.sep) for other in self.bases)
            found += [*(self.missing_folders(base) if inside else ()), base]
        for part in parts[:-1]:
            place = os.path.join(place, part)
            try:
                kind = os.lstat(place).st_mode
            except FileNotFoundError:
                found.append(place)
                continue
            if not stat.S_ISDIR(kind):
                raise _in_the_way(place, "a link" if stat.S_ISLNK(kind) else "no folder")
        return found

    def make_folder(self, path: str, mode: int = 0o777) -> None:
        """Make one folder in an existing one; nothing where it is there."""
        if path in self.bases:
            before("mkdir", path)
            os.makedirs(path, exist_ok=True)
            return
        with self._folder(path) as folder:
            try:
                if folder is None:
                    raise FileNotFoundError(2, "the folder is gone", path)
                before("mkdir", path)
                os.mkdir(os.path.basename(path), mode, dir_fd=folder)
            except FileExistsError:
                return
            except OSError as error:
                raise self._failed(path, error) from error

    def rename_folder(self, path: str, to: str) -> None:
        """Give a folder another name beside; where one with something in it has that name by now, it stays."""
        with self._folder(path) as folder:
            before("rename", to)
            try:
                os.rename(os.path.basename(path), os.path.basename(to), src_dir_fd=folder, dst_dir_fd=folder)
            except OSError as error:
                if not os.path.isdir(to):
                    raise self._failed(to, error) from error

    def remove_folder(self, path: str) -> bool:
        """Remove a folder if it is empty; say whether it is gone."""
        if path in self.bases:
            return self._remove_base(path)
        with self._folder(path) as folder:
            if folder is None:
                return True
            try:
                before("rmdir", path)
                os.rmdir(os.path.basename(path), dir_fd=folder)
            except FileNotFoundError:
                return True
            except OSError:
                return False
        return True

    def names(self, path: str) -> list[str]:
        """The names in a folder; none where there is no such folder, or a link in its place."""
        with self._folder(os.path.join(path, "x")) as folder:
            return sorted(os.listdir(folder)) if folder is not None else []

    @staticmethod
    def _remove_base(path: str) -> bool:
        try:
            before("rmdir", path)
            os.rmdir(path)
        except OSError:
            return not os.path.exists(path)
        return True

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
    def _folder(self, path: str) -> Iterator[int | None]:
        """The folder of a path, opened without following a link below the base; None where it is missing."""
        base, parts = self._split(path)
        opened, place = None, base
        try:
            try:
                opened = os.open(base, _FOLDER)
                for part in parts[:-1]:
                    place = os.path.join(place, part)
                    inner = os.open(part, _FOLDER | _NOFOLLOW, dir_fd=opened)
                    os.close(opened)
                    opened = inner
            except FileNotFoundError:
                if opened is not None:
                    os.close(opened)
                opened = None
            except NotADirectoryError:
                raise _in_the_way(place, "a link" if os.path.islink(place) else "no folder") from None
            except OSError as error:
                if os.path.islink(place):
                    raise _in_the_way(place, "a link") from None
                raise self._failed(place, error) from error
            yield opened
        finally:
            if opened is not None:
                os.close(opened)

    @staticmethod
    def _look(path: str, folder: int) -> bool:
        """Whether there is a file that may be read and replaced; RefusedError for what is no file of its own."""
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

    @staticmethod
    def _failed(path: str, error: OSError) -> EnvironmentProblem:
        return EnvironmentProblem(
            f"{path} cannot be read or written: {error.strerror or error}",
            remedy="make room or give access, then run the same command again: it mends what was begun",
        )


def _part(path: str, tag: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.{tag}.part")


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def _in_the_way(path: str, what: str) -> RefusedError:
    return RefusedError(
        f"{path} is {what}, and is neither followed nor replaced",
        remedy="put a plain file or folder there, or move it away; then run the same command again",
    )
