"""The files that an agent's tools reach: they read a project and a few folders more, and write the project alone."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import threading

from skills.lib import paths
from skills.lib.errors import EnvironmentProblem, RefusedError, UsageError, did_you_mean, nearest
from skills.lib.gateway import Gateway, tree_files
from skills.lib.gateway.places import may_be_below
from skills.lib.gateway.specs import READ, WRITE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# A larger file is neither read nor changed (bytes).
LARGEST = 1 << 24
# One file is changed at a time: sub-agents of one process may edit the same one.
WRITING = threading.Lock()
# In so many first bytes a zero makes a file binary.
_LOOKED_AT = 8_192


class Workspace:
    """The project of a session, and what of its files the session has been shown.

    ``readable`` are more folders that may be read and never written, such as that of a skill. ``text_of`` makes of a
    path and the text there what is shown by ``read``. Raises RefusedError for a folder that is no project, and
    GatewayFileError if its gateway file cannot be used.
    """

    def __init__(
        self,
        project: str,
        home: str = "",
        readable: Sequence[str] = (),
        text_of: Callable[[str, str], str] | None = None,
    ) -> None:
        self.places = Gateway(project).places
        self.project = self.places.project
        self.home = os.path.realpath(home or paths.home(self.project))
        self._roots = (self.project, *[os.path.realpath(one) for one in readable])
        self.text_of = text_of or (lambda path, text: text)
        self._shown: dict[str, tuple[str, int]] = {}

    def to_read(self, given: str) -> str:
        """The resolved path of what may be read. Raises RefusedError, and UsageError if nothing is there."""
        path = self.places.resolve(given, READ, self._roots)
        if not os.path.lexists(path):
            raise UsageError(
                f"there is no {given!r:.200}{did_you_mean(self._nearest(path))}", remedy="find it by search"
            )
        return path

    def to_write(self, given: str) -> str:
        """The resolved path of a file that may be written, there or not. Raises RefusedError."""
        try:
            path = self.places.resolve(given, WRITE, (self.project,))
        except RefusedError as error:
            name = os.path.basename(given.rstrip("/"))
            if not name.isprintable() or name in ("", "..") or os.path.dirname(given) == "":
                raise
            inside = f'in the project: path="{name}"'
            remedy = f"{error.remedy}; {inside}" if error.remedy else inside
            raise RefusedError(error.what, valid=error.valid, remedy=remedy) from None
        for folder in (self.home, *self._roots[1:]):
            if may_be_below(path, folder) and not may_be_below(self.project, folder):
                raise RefusedError(
                    f"{given!r:.200} is in {folder}, which is only read", remedy="write elsewhere in the project"
                )
        return path

    def is_only_read(self, path: str) -> bool:
        """True if a resolved path is in a folder that is read and never written."""
        return any(may_be_below(path, folder) for folder in self._roots[1:])

    def name(self, path: str) -> str:
        """A resolved path as it is shown: relative to the project if it is in it."""
        inside = os.path.relpath(path, self.project) if may_be_below(path, self.project) else path
        return shown(inside)

    def note_shown(self, path: str, data: bytes, first: int, last: int) -> None:
        """Note that lines of a file with this content were shown; ``last`` is 0 for none."""
        digest, until = self._shown.get(path, ("", 0))
        if digest != _digest(data):
            until = 0
        if first <= until + 1:
            until = max(until, last)
        self._shown[path] = (_digest(data), until)

    def is_shown(self, path: str, data: bytes) -> bool:
        """True if a file was shown to its end when it had this content."""
        digest, until = self._shown.get(path, ("", 0))
        return digest == _digest(data) and until >= count_of_lines(data)

    def require_shown(self, path: str, data: bytes) -> None:
        """RefusedError unless the whole file was shown, and has not changed since."""
        if self.is_shown(path, data):
            return
        digest, until = self._shown.get(path, ("", 0))
        name = self.name(path)
        if not digest:
            what = f"{name} is there, and was not read in this session"
        elif digest != _digest(data):
            what = f"{name} has changed since it was read"
        else:
            what = f"{name} was read up to line {until:,} of {count_of_lines(data):,}"
        raise RefusedError(
            f"{what}: it would be lost", remedy="read it to its end and write it then, or change a part of it by edit"
        )

    def _nearest(self, path: str) -> str:
        """A name in the folder of a path that was probably meant; empty if none is near."""
        folder, name = os.path.split(path)
        try:
            near = nearest(name, os.listdir(folder))
        except OSError:
            return ""
        return self.name(os.path.join(folder, near)) if near else ""


def content(path: str, name: str) -> bytes:
    """The content of the regular file at a resolved path. Raises UsageError, RefusedError or EnvironmentProblem."""
    if os.path.isdir(path):
        raise UsageError(f"{name} is a folder", remedy=f'search with path="{name}" and glob="*" lists what is in it')
    try:
        with tree_files.opened(path) as place, tree_files.regular(place) as file, tree_files.told(path):
            size = os.fstat(file).st_size
            if size > LARGEST:
                raise UsageError(
                    f"{name} has {size:,} bytes, and at most {LARGEST:,} are read",
                    remedy="see a part of it by shell, such as head, tail or sed -n",
                )
            parts, left = [], LARGEST
            while left and (part := os.read(file, left)):
                parts.append(part)
                left -= len(part)
            return b"".join(parts)
    except EnvironmentProblem as error:
        raise EnvironmentProblem(error.what, remedy="see what is there by search") from error


def mode_of(path: str) -> int | None:
    """The permissions of a file; None if it is not there."""
    try:
        return stat.S_IMODE(os.stat(path, follow_symlinks=False).st_mode) & 0o777
    except OSError:
        return None


def is_binary(data: bytes) -> bool:
    """True if the content of a file is no text."""
    return b"\0" in data[:_LOOKED_AT]


def is_utf8(data: bytes) -> bool:
    """True if the content of a file is UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def count_of_lines(data: bytes) -> int:
    """How many lines a text has; what follows its last line feed is one, unless it is empty."""
    return data.count(b"\n") + (data != b"" and data[-1:] != b"\n")


def counted(count: int, noun: str) -> str:
    """A number with its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def shown(name: str) -> str:
    """A name on one line: in quotes and with escapes if it has what is not printed."""
    return name if name.isprintable() else json.dumps(name)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
