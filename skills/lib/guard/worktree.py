"""The branch, the commit and the content of a working tree, for ``$branch``, ``$head`` and ``$tree``.

The first two are read from the files of git. The third is a digest of every file that git tracks or does not ignore: a
commit does not change it, an edit does. The digests of files are kept in the user's cache, each with what ``lstat``
said of the file, so that only files that changed are read again.
"""

from __future__ import annotations

import os
import stat
import time

from skills.lib import compact_json, files, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Known = dict[str, list[Any]]

# A file that changed so shortly before it was read may change again within the same tick of the clock (nanoseconds).
_UNSETTLED = 1_000_000_000
# How long all calls of git for one digest may take, in seconds; the hook has five.
_PATIENCE = 3.0
# A worktree with more files, or more bytes to read at once, has no digest: the hook's time is bounded.
MOST_FILES, MOST_BYTES = 200_000, 1 << 30
_READ_AT_ONCE = 1 << 20
_LARGEST_TEXT, _LARGEST_PACKED, _LARGEST_CACHE = 4_096, 16 << 20, 64 << 20
_DEEPEST = 4
_MADE = frozenset((*paths.MADE, paths.FOLDER))


def root(folder: str) -> str:
    """The top folder of the working tree around a folder; "" if there is none."""
    at = os.path.realpath(folder)
    while not os.path.lexists(os.path.join(at, ".git")):
        above = os.path.dirname(at)
        if above == at:
            return ""
        at = above
    return at


def branch(folder: str) -> str | None:
    """The name of the branch that is checked out; None outside of a working tree, and on no branch."""
    named = _head_text(folder)
    return named.removeprefix("ref: refs/heads/") if named.startswith("ref: refs/heads/") else None


def head(folder: str) -> str | None:
    """The id of the commit that is checked out; None if there is none, or it cannot be read."""
    named = _head_text(folder)
    if not named.startswith("ref: "):
        return named if _is_id(named) else None
    place = _git_folder(folder)
    name = named.removeprefix("ref: ")
    common = os.path.normpath(os.path.join(place, _text(os.path.join(place, "commondir")) or "."))
    if not name.startswith("refs/") or ".." in name.split("/"):
        return None
    found = _text(os.path.join(common, name))
    if _is_id(found):
        return found
    packed = _text(os.path.join(common, "packed-refs"), _LARGEST_PACKED)
    found = next((line.partition(" ")[0] for line in packed.split("\n") if line.endswith(f" {name}")), "")
    return found if _is_id(found) else None


def tree(folder: str) -> str | None:
    """A digest of the content of the working tree around a folder; None outside of one, or if it cannot be told."""
    top = root(folder)
    if not top:
        return None
    place = os.path.join(paths.cache(), "trees", compact_json.checksum(os.fsencode(top)))
    known = _kept(place)
    digests = _Digests(known)
    found = digests.of(top, "", 0)
    fresh = digests.fresh if found is not None else {**known, **digests.fresh}  # the next call goes on from there
    if fresh != known:
        _keep(place, fresh)
    return found


class _Digests:
    """The digests of one working tree, and what of them may be kept."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.fresh: Known = {}
        self.now = time.time_ns()
        self.left = MOST_BYTES
        self.deadline = time.monotonic() + _PATIENCE

    def of(self, top: str, below: str, depth: int) -> str | None:
        """The digest of a working tree; that of one inside it has its path before each file."""
        listed = self._listed(top)
        if listed is None or len(listed) > MOST_FILES or depth > _DEEPEST:
            return None
        rows = []
        for path in listed:
            full = os.path.join(top, path)
            try:
                status = os.lstat(full)
            except OSError:
                continue  # deleted, and the commit does not know it yet
            if stat.S_ISDIR(status.st_mode):
                inside = self.of(full, f"{below}{path}/", depth + 1) if _is_worktree(full) else ""
                if inside is None:
                    return None
                rows.append(f"{path}\0{inside}")
                continue
            content = self._of_file(full, below + path, status)
            if content is None:
                return None
            rows.append(f"{path}\0{content}")
        return compact_json.checksum("\n".join(rows).encode("utf-8", "surrogateescape"))

    def _listed(self, top: str) -> list[str] | None:
        """The files that git tracks or does not ignore, sorted; None if git does not say."""
        from skills.lib.git import Git, GitProblem  # it brings subprocess, as a call of git does

        try:
            found = Git(top, deadline=self.deadline).output(
                "ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard"
            )
        except GitProblem:
            return None
        if found is None or found[-1:] not in (b"", b"\0"):
            return None
        rows = os.fsdecode(found).split("\0")[:-1]
        return sorted({row[2:].rstrip("/") for row in rows if row[:2] != "? " or not _is_made(row[2:])})

    def _of_file(self, full: str, path: str, status: os.stat_result) -> str | None:
        """The digest of a file with its kind; None if it cannot be read, or too much is to be read."""
        about = [status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
        kept = self.known.get(path)
        if kept is not None and kept[1:] == about:
            self.fresh[path] = kept
            return f"{kept[0]}"
        try:
            digest = self._read(full, status)
        except OSError:
            return None
        if digest is not None and self.now - status.st_ctime_ns > _UNSETTLED:
            self.fresh[path] = [digest, *about]
        return digest

    def _read(self, full: str, status: os.stat_result) -> str | None:
        if stat.S_ISLNK(status.st_mode):
            return "link:" + compact_json.checksum(os.fsencode(os.readlink(full)))
        if not stat.S_ISREG(status.st_mode):
            return "none"
        self.left -= status.st_size
        if self.left < 0 or time.monotonic() > self.deadline:
            return None
        from _blake2 import blake2b

        found = blake2b(digest_size=16)
        with open(full, "rb", opener=_opened) as file:
            while part := file.read(_READ_AT_ONCE):
                found.update(part)
        return found.hexdigest() + ("+x" if status.st_mode & stat.S_IXUSR else "")


def _is_made(path: str) -> bool:
    """True if programs make an untracked file anew: it is no edit of anybody."""
    parts = path.split("/")
    return not _MADE.isdisjoint(parts) or path.endswith(".pyc")


def _opened(path: str, flags: int) -> int:
    """Open what was a regular file a moment ago; a FIFO that has taken its place is not waited for."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))


def _is_worktree(folder: str) -> bool:
    return os.path.lexists(os.path.join(folder, ".git"))


def _git_folder(folder: str) -> str:
    """The folder of git of the working tree around a folder; "" if there is none."""
    top = root(folder)
    place = os.path.join(top, ".git")
    if not top or os.path.isdir(place):
        return place if top else ""
    named = _text(place).removeprefix("gitdir:").strip()
    return os.path.join(top, named) if named else ""


def _head_text(folder: str) -> str:
    place = _git_folder(folder)
    return _text(os.path.join(place, "HEAD")) if place else ""


def _text(path: str, largest: int = _LARGEST_TEXT) -> str:
    """The text of a regular file; empty if it is none, or too large."""
    try:
        return files.read(path, largest).decode().strip()
    except (OSError, ValueError):
        return ""


def _is_id(text: str) -> bool:
    return len(text) in (40, 64) and set(text) <= set("0123456789abcdef")


def _kept(place: str) -> Known:
    try:
        found = compact_json.loads(files.read(place, _LARGEST_CACHE).decode())
    except (OSError, ValueError):
        return {}
    is_kept = isinstance(found, dict) and all(isinstance(one, list) and len(one) == 6 for one in found.values())
    return found if is_kept else {}


def _keep(place: str, fresh: Known) -> None:
    """Keep the digests for the next call; without a cache each call reads all files."""
    try:  # noqa: SIM105  contextlib costs 2 ms
        files.write(place, compact_json.ordered(fresh).encode())
    except (OSError, ValueError):
        pass
