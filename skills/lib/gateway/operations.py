"""The built-in operations on files: what a gateway command does that names one with ``does``.

They are done here and not by programs of the system: they are the same everywhere, and a path is never a word of a
command line. Each takes resolved paths and returns what is shown.
"""

from __future__ import annotations

import os
import stat
import time

from skills.lib.errors import EnvironmentProblem, RefusedError
from skills.lib.gateway import tree_files
from skills.lib.gateway.tree_files import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Operation = Callable[["Job"], bytes]

# How many entries of a folder, and of a tree, are shown, and how deep a tree is followed.
ENTRIES, DEPTH = 10_000, 20
# A folder whose content no tree shows.
_NOT_SHOWN = ".git"
_AT_ONCE = 1 << 20
# The bytes of the largest file that is copied.
LARGEST = 1 << 30


class TimeIsUp(Exception):
    """The operation took longer than its command may."""


class Job:
    """The resolved paths of one call by parameter, and what the operation may take.

    ``writable`` gives the resolved form of another path that is to be written, or raises RefusedError.
    """

    def __init__(self, values: Mapping[str, str], seconds: float, output: int, writable: Callable[[str], str]) -> None:
        self.values = values
        self.size = 0  # of what is shown, if it is more than what is returned
        self.output = output
        self.writable = writable
        self._until = time.monotonic() + seconds

    def check(self) -> None:
        """Raise TimeIsUp if the time is over."""
        if time.monotonic() > self._until:
            raise TimeIsUp


def _list_files(job: Job) -> bytes:
    with tree_files.opened(job.values["path"]) as place:
        return b"".join(_line(entry) + b"\n" for entry in _entries(place, job, ENTRIES))


def _read_file(job: Job) -> bytes:
    parts, left = [], job.output + 1
    path = job.values["path"]
    with tree_files.opened(path) as place, tree_files.regular(place) as file, tree_files.told(path):
        job.size = os.fstat(file).st_size
        while left and (part := os.read(file, min(left, _AT_ONCE))):
            job.check()
            parts.append(part)
            left -= len(part)
    return b"".join(parts)


def _make_directory(job: Job) -> bytes:
    path = job.values["path"]
    with tree_files.opened(path, make=True) as place, tree_files.told(path):
        about = place.about()
        if about is not None and not stat.S_ISDIR(about.st_mode):
            raise EnvironmentProblem(f"{path} is there, and is no folder", remedy="give another path")
        if about is None:
            os.mkdir(place.name, dir_fd=place.below)
        return f"{'made' if about is None else 'is there'}: {path}\n".encode()


def _tree(job: Job) -> bytes:
    lines = [os.fsencode(job.values["path"])]
    with tree_files.opened(job.values["path"]) as place:
        lines += _branches(place, job, [ENTRIES], 0)
    return b"\n".join(lines) + b"\n"


def _branches(place: Place, job: Job, left: list[int], depth: int) -> Iterator[bytes]:
    """The lines of what is below a folder; ``left`` says how many more are shown."""
    entries = list(_entries(place, job, left[0]))
    for entry in entries:
        left[0] -= 1
        if left[0] <= 0:
            break
        yield b"    " * depth + "\u251c\u2500\u2500 ".encode() + _line(entry)
        if not entry.is_dir(follow_symlinks=False) or entry.name == _NOT_SHOWN or depth + 1 >= DEPTH:
            continue
        try:
            with tree_files.opened(os.path.join(place.path, entry.name)) as below:
                yield from _branches(below, job, left, depth + 1)
        except (EnvironmentProblem, RefusedError) as error:  # it was removed, or is closed to us
            yield b"    " * (depth + 1) + os.fsencode(error.what)


def _entries(place: Place, job: Job, most: int) -> Iterator[os.DirEntry[str]]:
    """The entries of a folder by name, folders first; at most so many."""
    found = []
    with tree_files.listed(place) as entries:
        for entry in entries:
            job.check()
            found.append(entry)
            if len(found) >= most:
                break
    yield from sorted(found, key=lambda entry: (not entry.is_dir(follow_symlinks=False), entry.name))


def _line(entry: os.DirEntry[str]) -> bytes:
    """The name of an entry on one line: a folder with a slash at its end, a link with an at sign."""
    mark = "@" if entry.is_symlink() else "/" if entry.is_dir(follow_symlinks=False) else ""
    name = "".join(char if char.isprintable() or char >= "\ud800" else "?" for char in entry.name)
    return os.fsencode(name) + mark.encode()


def _copy_file(job: Job) -> bytes:
    source, target = job.values["source"], _target(job)
    with tree_files.opened(source) as place, tree_files.regular(place) as file, tree_files.opened(target) as other:
        about = os.fstat(file)
        _require_small(source, about.st_size)
        size, mode = 0, stat.S_IMODE(about.st_mode) & 0o777
        with tree_files.replacing(other, mode) as copy:
            while part := os.read(file, _AT_ONCE):
                job.check()
                size += len(part)
                _require_small(source, size)  # it may grow meanwhile
                view = memoryview(part)
                while view:
                    view = view[os.write(copy, view) :]
    return f"copied: {source} -> {target}\n".encode()


def _require_small(source: str, size: int) -> None:
    if size > LARGEST:
        raise RefusedError(f"{source} has {size:,} bytes: files of at most {LARGEST:,} bytes are copied")


def _move_file(job: Job) -> bytes:
    source, target = job.values["source"], _target(job)
    with tree_files.opened(source) as place, tree_files.opened(target) as other, tree_files.told(source):
        about = other.about()
        if about is not None and not stat.S_ISREG(about.st_mode):
            raise EnvironmentProblem(f"{target} is there, and is no regular file", remedy="give another path")
        os.replace(place.name, other.name, src_dir_fd=place.below, dst_dir_fd=other.below)
    return f"moved: {source} -> {target}\n".encode()


def _target(job: Job) -> str:
    """Where a file is copied or moved to: into a folder that is there under its own name, else to the path itself."""
    target = job.values["destination"]
    if os.path.isdir(target) and not os.path.islink(target):
        target = job.writable(os.path.join(target, os.path.basename(job.values["source"])))
    if target == job.values["source"]:
        raise RefusedError(f"{target} is both source and destination", remedy="give another destination")
    return target


OPERATIONS: dict[str, Operation] = {
    "list_files": _list_files,
    "read_file": _read_file,
    "make_directory": _make_directory,
    "tree": _tree,
    "copy_file": _copy_file,
    "move_file": _move_file,
}
# What runs a script by the runner of its suffix.
RUN_SCRIPT = "run_script"


def names() -> Sequence[str]:
    """Every operation that the shipped gateway file may name."""
    return (*OPERATIONS, RUN_SCRIPT)
