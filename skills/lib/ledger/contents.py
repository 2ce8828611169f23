"""The files that a review covers, each with a digest of its content.

In a git checkout these are the tracked files, and the untracked ones that are neither ignored nor made anew: five calls
of git, some 50 ms for 10,000 files. Up to READ_FILES files with READ_BYTES are all read. Of more files, one that git
knows to be unchanged has the id of its blob; any other is read, and each that git converts (filters, line ends). A
repository in the project is listed in the same way. A folder that is named counts whole.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time

from skills.lib import git as gits
from skills.lib.compact_json import checksum
from skills.lib.git import Git, end
from skills.lib.ledger.globs import matcher, plain
from skills.lib.paths import FOLDER, MADE, folder_of, is_within

try:
    from _sha1 import sha1  # type: ignore[import-not-found]
except ImportError:
    from hashlib import sha1

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    Manifest = dict[str, str]

_PASSED_OVER = MADE | {".git", FOLDER}
# A change is seen whatever the project's configuration says about what git may trust.
_EXACT = {
    "core.trustctime": "true",
    "core.checkStat": "default",
    "core.fileMode": "true",
    "core.ignorecase": "false",
}
# Attributes by which git keeps another content than the file's.
_CONVERTING = frozenset("filter text eol crlf ident working-tree-encoding".split())
# What git says of a file is believed only if more files, or more bytes, are covered: its index can be rewritten.
READ_FILES, READ_BYTES = 1_000, 64 << 20
# How much of a file is read for its digest; for a larger file its size and the time of its last change are used.
HASHED = 256 << 20
_READ_AT_ONCE = 1 << 20
# A row of git's index about an ordinary file that git looks at: tag, mode, id, stage. Any other file is read.
_ROW = len("H 100644 ") + 40 + len(" 0")


def manifest(project: str, covers: Sequence[str]) -> Manifest:
    """The digest of each file of the project that the patterns cover, by path; a folder's name covers all below it."""
    wanted = matcher(project, covers)
    below: dict[str, list[str]] = {}

    def walk() -> None:
        below.update({text: _below(project, text) for text in covers if text not in below})

    files = _listed(project, "", [_fixed(text) for text in covers], time.monotonic() + gits.TIMEOUT, walk)
    walk()
    files.update(_behind_links(project, files))
    found = {path: known for path, known in files.items() if wanted(path)}
    is_read = _is_small(project, found)
    for path in [path for path, known in found.items() if is_read or not known]:
        found[path] = content_id(os.path.join(project, path), project)
    for text in covers:
        found.update(_named(project, text, below[text], found))
    return {path: found[path] for path in sorted(found) if found[path]}


def covered(project: str, covers: Sequence[str], paths: Sequence[str]) -> set[str]:
    """Those of the paths that the patterns cover."""
    wanted = matcher(project, covers)
    return {path for path in paths if wanted(path)}


def digest(found: Mapping[str, str]) -> str:
    """32 hex digits over a manifest."""
    text = "\n".join([f"{path}\0{content}" for path, content in found.items()])
    return checksum(text.encode("utf-8", "surrogateescape"))


def content_id(path: str, project: str) -> str:
    """The id that git gives the content of a file, with its mode; empty if there is none, or it is of another kind.

    A link has the id of its text, with that of the file of the project that it leads to; nothing outside is read. A
    file larger than HASHED has its size and the time of its last change.
    """
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            link = os.fsencode(os.readlink(path))
            real = os.path.realpath(path)
            behind = content_id(real, project) if is_within(project, real) and not os.path.islink(real) else ""
            return blob_id(len(link), [link]) + (behind and f":{behind}")
        if not stat.S_ISREG(status.st_mode):
            return ""
        mode = "+x" if status.st_mode & stat.S_IXUSR else ""
        with open(path, "rb", opener=_opened) as file:
            size = os.fstat(file.fileno()).st_size
            if size > HASHED:
                return f"large:{size}:{status.st_mtime_ns}{mode}"
            return blob_id(size, iter(lambda: file.read(_READ_AT_ONCE), b"")) + mode
    except OSError:
        return ""


def _opened(path: str, flags: int) -> int:
    """Open what was a regular file a moment ago; a FIFO that has taken its place is not waited for."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0))


def _is_small(project: str, found: Manifest) -> bool:
    """True if the files are so few and so small that all of them are read."""
    if len(found) > READ_FILES:
        return False
    size = 0
    for path in found:
        with contextlib.suppress(OSError):
            size += os.lstat(os.path.join(project, path)).st_size
    return size <= READ_BYTES


def _fixed(text: str) -> str:
    """The folder that all paths of a pattern lie in, or are, with a slash; empty for the project."""
    folder = folder_of(plain(text))
    return f"{folder}/" if folder not in ("", ".") else ""


def _below(project: str, text: str) -> list[str]:
    """The files of a folder that is named as it is, from the folder; none if it is no folder of the project."""
    path = plain(text)
    full = os.path.join(project, path)
    is_named = path != "." and os.path.isdir(full) and is_within(project, path)
    return list(_walk(full, hidden=True)) if is_named else []


def _named(project: str, text: str, below: Sequence[str], found: Manifest) -> Manifest:
    """A file or folder that is named as it is counts though git ignores it, or a part of it."""
    path = plain(text)
    full = os.path.join(project, path)
    if path == "." or not is_within(project, os.path.dirname(path)):
        return {}
    more = [f"{path}/{name}" for name in below]
    if os.path.islink(full) or (os.path.isfile(full) and is_within(project, path)):
        more.append(path)
    return {name: content_id(os.path.join(project, name), project) for name in more if name not in found}


def _listed(
    folder: str, below: str, fixed: Sequence[str], deadline: float, meanwhile: Callable[[], object] = lambda: None
) -> Manifest:
    """Each file of a folder with its id, empty if it must be read; repositories in it if a pattern leads there.

    ``meanwhile`` is done while git is at work.
    """
    is_asked = not below or os.path.lexists(os.path.join(folder, ".git"))
    listing = _of_git(folder, deadline, meanwhile) if is_asked else None
    files, nested = listing or (dict.fromkeys(_walk(folder), ""), [])
    for path in nested:
        full = os.path.join(folder, path)
        if os.path.islink(full) or not os.path.isdir(full):
            files[path] = ""
        elif any(one.startswith(f"{below}{path}/") or f"{below}{path}/".startswith(one) for one in fixed):
            inside = _listed(full, f"{below}{path}/", fixed, deadline)
            files.update({f"{path}/{name}": known for name, known in inside.items()})
    return files


def _behind_links(project: str, files: Manifest) -> Manifest:
    """The files of folders of the project that links lead to, by the paths that they have behind the link."""
    top = os.path.realpath(project)
    found: Manifest = {}
    for link in [path for path, known in files.items() if not known]:
        full = os.path.join(project, link)
        if os.path.islink(full) and os.path.isdir(full):
            real = os.path.realpath(full)
            # A folder around the link would be listed in itself; one outside of the project is not listed.
            if real.startswith(top + os.sep) and not os.path.join(top, link).startswith(real + os.sep):
                target = real[len(top) + 1 :].replace(os.sep, "/") + "/"
                names = [path for path in files if path.startswith(target)]
                found.update({f"{link}/{path[len(target) :]}": files[path] for path in names})
    return found


def _of_git(folder: str, deadline: float, meanwhile: Callable[[], object]) -> tuple[Manifest, list[str]] | None:
    """The files of a folder that git lists, each with its id (empty: to be read), and the repositories in it.

    None outside of a checkout, and in a folder that its repository ignores. The call that looks at every file takes
    longest: what the others list is read in the meantime. It comes after the settings, which name the filters.
    """
    git = Git(folder, settings=_EXACT, deadline=deadline)
    running: list[Any] = []

    def start(*words: str, given: bytes = b"") -> Any:
        running.append(git.start(*words, given=given))
        return running[-1]

    try:
        asked = start("config", "-z", "--get-regexp", r"^(filter\..*|core\.autocrlf)$")
        indexed = start("ls-files", "--stage", "-v", "-z")
        other = start("ls-files", "--others", "--exclude-standard", "-z")
        settings = git.read(asked) or b""
        git.settings = {**_EXACT, **without_filters(settings)}
        looked_at = start("diff-files", "--raw", "-z", "--relative", "--ignore-submodules=all")
        meanwhile()
        staged, others = git.read(indexed), git.read(other)
        files, nested = _listing(git, staged or b"", others or b"")
        known = [path for path, one in files.items() if one]
        attributes = start("check-attr", "-z", "-a", "--stdin", given=os.fsencode("\0".join(known)))
        changed, converted = git.read(looked_at), git.read(attributes)
    except OSError:
        return None
    finally:
        for process in running:
            end(process)
    if staged is None or others is None or changed is None or not (staged or others):
        return None
    if converted is None or _converts_all(settings):
        files = dict.fromkeys(files, "")
    files.update(dict.fromkeys([*_paths(git, changed), *_converted(git, converted or b"")], ""))
    return files, nested


def _listing(git: Git, staged: bytes, others: bytes) -> tuple[Manifest, list[str]]:
    """Each path of git's index, and each that is untracked, with its id (empty: to be read); the repositories."""
    files: Manifest = {}
    nested = []
    for row in _texts(git, staged):
        # The row of an ordinary file that git looks at, in one look: there are many.
        if row[:9] == "H 100644 " and row[49:52] == " 0\t" and len(row) > _ROW + 1:
            files[row[52:]] = row[9:49]
            continue
        head, _, path = row.partition("\t")
        if head.count(" ") != 3 or not path:
            raise git.garbled()
        if head[2:8] == "160000":
            nested.append(path)
        elif len(head) == _ROW and head[:9] == "H 100755 ":
            files[path] = head[9:49] + "+x"
        else:
            files[path] = ""
    for path in _texts(git, others):
        if not path:
            raise git.garbled()
        if any(part in MADE or part.endswith(".pyc") for part in path.split("/")):
            continue
        if path[-1] == "/":
            nested.append(path[:-1])
        else:
            files[path] = ""
    return files, nested


def _paths(git: Git, changed: bytes) -> list[str]:
    """The paths that differ from the index."""
    rows = _texts(git, changed)
    if len(rows) % 2 or not all(row[:1] == ":" for row in rows[::2]):
        raise git.garbled()
    return rows[1::2]


def _converted(git: Git, attributes: bytes) -> list[str]:
    """The paths of files that git keeps in another form than they have: rows of path, attribute and value."""
    rows = _texts(git, attributes)
    if len(rows) % 3:
        raise git.garbled()
    named = zip(rows[::3], rows[1::3], rows[2::3], strict=True)
    return [path for path, name, value in named if name in _CONVERTING and value != "unset"]


def _texts(git: Git, output: bytes) -> list[str]:
    """The rows of what git printed; GitProblem if it is not what git prints."""
    if output[-1:] not in (b"", b"\0"):
        raise git.garbled()
    return _rows(output)


def _rows(output: bytes) -> list[str]:
    return os.fsdecode(output).split("\0")[:-1]


def without_filters(settings: bytes) -> dict[str, str]:
    """Settings that switch every filter off that is configured: a filter is a command."""
    names = {row.partition("\n")[0].rpartition(".")[0] for row in _rows(settings) if row.startswith("filter.")}
    values = (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))
    return {f"{name}.{key}": value for name in sorted(names) for key, value in values}


def _converts_all(settings: bytes) -> bool:
    """True if git is configured to convert the line ends of every text."""
    known = dict(row.partition("\n")[::2] for row in _rows(settings))
    return known.get("core.autocrlf", "false").lower() not in ("false", "")


def blob_id(size: int, content: Iterable[bytes]) -> str:
    """The id that git gives a content of that size."""
    found: Any = sha1(b"blob %d\0" % size, usedforsecurity=False)
    for part in content:
        found.update(part)
    return str(found.hexdigest())


def _walk(folder: str, hidden: bool = False) -> Iterator[str]:
    """The files and links of a folder, without what is made anew, and without hidden folders if not wanted."""
    waiting = [""]
    while waiting:
        below = waiting.pop()
        try:
            entries = list(os.scandir(os.path.join(folder, below)))
        except OSError:
            continue
        for entry in entries:
            name = entry.name
            if name in _PASSED_OVER or name.endswith(".pyc"):
                continue
            if not entry.is_dir(follow_symlinks=False):
                yield below + name
            elif hidden or name[0] != "." or name == ".github":
                waiting.append(f"{below}{name}/")
