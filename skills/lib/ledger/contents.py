"""The files that a review covers, each with a digest of its content; and the places that findings name.

In a git checkout these are the tracked files, and the untracked ones that are not ignored: four calls of git, some 40
ms for 10,000 files. A file that git knows to be unchanged has the id of its blob, any other is read. A project whose
files git converts (filters, line ends) has all of them read.
"""

from __future__ import annotations

import os
import re

from skills.lib.errors import UsageError
from skills.lib.git import Git, end
from skills.lib.paths import FOLDER, within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    Manifest = dict[str, str]

# Folders that hold what is made anew, passed over where no git says what is ignored.
MADE = frozenset("__pycache__ node_modules .venv venv .tox .mypy_cache .ruff_cache .pytest_cache".split())
# Attributes by which git keeps another content than the file's.
_CONVERTS = re.compile(rb"\b(?:filter|text|eol|crlf|ident|working-tree-encoding)\b")
_GLOB = re.compile(r"[*?\[]")
_PLACE = re.compile(r"(?P<path>[^:`|\n]+?)(?::(?P<line>[1-9]\d*)(?:-(?P<last>[1-9]\d*))?(?::\d+)?)?")
# A place may quote what stands there: src/a.py:3 `return total`.
_QUOTED = re.compile(r"(?P<place>.+?)\s*(?:`(?P<code>[^`]+)`|[\"“](?P<words>[^\"”]+)[\"”])")
_READ_AT_ONCE = 1 << 20
# Hex digits of a blob's id; a repository with longer ones has its files read.
_ID = 40


def manifest(project: str, covers: Sequence[str]) -> Manifest:
    """The digest of each file of the project that the patterns cover, by path; a folder's name covers all below it."""
    wanted = re.compile("|".join(f"(?:{_pattern(text)})" for text in covers) or r"(?!)")
    found = _of_git(project, wanted)
    if found is None:
        found = {path: content_id(os.path.join(project, path)) for path in _walk(project, "") if wanted.fullmatch(path)}
    for text in covers:
        found.update(_named(project, text, found))
    return dict(sorted((path, digest) for path, digest in found.items() if digest))


def covered(covers: Sequence[str], paths: Sequence[str]) -> set[str]:
    """Those of the paths that the patterns cover."""
    wanted = re.compile("|".join(f"(?:{_pattern(text)})" for text in covers) or r"(?!)")
    return {path for path in paths if wanted.fullmatch(path)}


def digest(found: Mapping[str, str]) -> str:
    """32 hex digits over a manifest."""
    try:
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b
    text = "\n".join([f"{path}\0{content}" for path, content in found.items()])
    return blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def content_id(path: str) -> str:
    """The id that git gives the content of a file or link; empty if there is none, or it is of another kind."""
    try:
        if os.path.islink(path):
            link = os.fsencode(os.readlink(path))
            return _blob(len(link), [link])
        if not os.path.isfile(path):
            return ""
        with open(path, "rb") as file:
            return _blob(os.fstat(file.fileno()).st_size, iter(lambda: file.read(_READ_AT_ONCE), b""))
    except OSError:
        return ""


def look(project: str, text: str, bases: Sequence[str] = ()) -> dict[str, Any]:
    """What a place leads to: its ``file`` (empty if none), the file's ``content``, and ``why`` it is not there.

    A place is a path from the project's root, or from one of ``bases``, with a line or lines: src/a.py:3-8. It may
    quote a piece of the line behind it.
    """
    quoted = _QUOTED.fullmatch(text.strip())
    words = (quoted["code"] or quoted["words"]) if quoted else ""
    place = _PLACE.fullmatch((quoted["place"] if quoted else text).strip().strip("`"))
    path = place["path"].strip() if place else ""
    if place is None or not path or os.path.isabs(path):
        return {"file": "", "content": "", "why": f"{text[:80]!r} does not begin with a path of the project"}
    for base in ("", *bases):
        file = os.path.normpath(os.path.join(base, path))
        if _is_within(project, file) and os.path.isfile(os.path.join(project, file)):
            why = _line_fault(os.path.join(project, file), place["line"], place["last"], words)
            return {"file": file, "content": content_id(os.path.join(project, file)), "why": why and f"{file} {why}"}
    file = os.path.normpath(path)
    if not _is_within(project, file):
        return {"file": "", "content": "", "why": f"{path[:80]!r} leads out of the project"}
    return {"file": file, "content": "", "why": f"{file[:200]} is no file of the project"}


def _line_fault(path: str, first: str | None, last: str | None, words: str) -> str:
    if first is None:
        return ""
    with open(path, "rb") as file:
        lines = file.read().decode("utf-8", "replace").splitlines()
    low, high = int(first), int(last or first)
    if not low <= high <= max(len(lines), 1):
        return f"has {len(lines)} lines"
    there = " ".join(" ".join(lines[low - 1 : high]).split())
    if words and " ".join(words.split()) not in there:
        return f"has something else in line {first}: {there[:120]!r}"
    return ""


def _is_within(project: str, path: str) -> bool:
    try:
        within(project, path)
    except (UsageError, ValueError, OSError):
        return False
    return True


def _pattern(text: str) -> str:
    """A pattern of paths as a regular expression: ``**`` crosses folders, ``*`` and ``?`` do not."""
    path = _plain(text)
    if path == ".":
        return rf"(?!{re.escape(FOLDER)}/).*"
    parts = []
    at = 0
    while at < len(path):
        if path.startswith("**/", at):
            parts.append(r"(?:.*/)?")
            at += 3
        elif path.startswith("**", at):
            parts.append(r".*")
            at += 2
        else:
            parts.append({"*": r"[^/]*", "?": r"[^/]"}.get(path[at]) or re.escape(path[at]))
            at += 1
    below = "" if _GLOB.search(path) else r"(?:/.*)?"
    hidden = "" if path.startswith(FOLDER) else rf"(?!{re.escape(FOLDER)}/)"
    return hidden + "".join(parts) + below


def _plain(text: str) -> str:
    return os.path.normpath(text.strip() or ".").replace(os.sep, "/")


def _named(project: str, text: str, found: Manifest) -> Manifest:
    """A file that is named as it is counts though git ignores it; so does a folder of which git lists nothing."""
    path = _plain(text)
    if _GLOB.search(path) or path == "." or path in found or not _is_within(project, path):
        return {}
    full = os.path.join(project, path)
    if os.path.isfile(full):
        return {path: content_id(full)}
    if os.path.isdir(full) and not any(name.startswith(path + "/") for name in found):
        return {name: content_id(os.path.join(project, name)) for name in _walk(project, path, hidden=True)}
    return {}


def _of_git(project: str, wanted: re.Pattern[str]) -> Manifest | None:
    """The covered files that git lists; None outside of a checkout."""
    git = Git(project)
    settings = git.output("config", "-z", "--get-regexp", r"^(filter\..*|core\.(autocrlf|attributesfile))$")
    git.settings = _without_filters(settings or b"")
    try:
        running = [
            git.start("ls-files", "--stage", "-z"),
            git.start("ls-files", "--others", "--exclude-standard", "-z"),
            git.start("diff-files", "--raw", "-z", "--ignore-submodules=all"),
        ]
    except OSError:
        return None
    try:
        staged, others, changed = [git.read(process) for process in running]
    finally:
        for process in running:
            end(process)
    if staged is None or others is None or changed is None:
        return None
    found: Manifest = {}
    attributes = []
    for row in _texts(staged):
        head, _, path = row.partition("\t")
        if wanted.fullmatch(path):
            found[path] = head.split(" ", 2)[1]
        if path.rpartition("/")[2] == ".gitattributes":
            attributes.append(path)
    untracked = _texts(others)
    attributes += [path for path in untracked if path.rpartition("/")[2] == ".gitattributes"]
    read = [path for path in (*_texts(changed)[1::2], *untracked) if wanted.fullmatch(path)]
    if _converts(project, settings or b"", attributes) or any(len(one) != _ID for one in found.values()):
        read = [*found, *read]
    for path in read:
        found[path] = content_id(os.path.join(project, path))
    return found


def _texts(output: bytes) -> list[str]:
    return os.fsdecode(output).split("\0")[:-1]


def _without_filters(settings: bytes) -> dict[str, str]:
    """Settings that switch every filter off that is configured: a filter is a command."""
    names = {row.partition("\n")[0].rpartition(".")[0] for row in _texts(settings) if row.startswith("filter.")}
    values = (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))
    return {f"{name}.{key}": value for name in sorted(names) for key, value in values}


def _converts(project: str, settings: bytes, attributes: Sequence[str]) -> bool:
    """Whether git may keep a file's content in another form than the file has."""
    known = dict(row.partition("\n")[::2] for row in _texts(settings))
    if known.get("core.autocrlf", "false").lower() not in ("false", ""):
        return True
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    files = [known.get("core.attributesfile") or os.path.join(home, "git", "attributes")]
    files += [os.path.join(project, path) for path in (".git/info/attributes", *attributes)]
    return any(_CONVERTS.search(_content(os.path.expanduser(file))) for file in files)


def _content(path: str) -> bytes:
    try:
        if os.path.isfile(path):
            with open(path, "rb") as file:
                return file.read(_READ_AT_ONCE)
    except OSError:
        pass
    return b""


def _blob(size: int, content: Iterable[bytes]) -> str:
    try:
        from _sha1 import sha1  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha1
    found: Any = sha1(b"blob %d\0" % size, usedforsecurity=False)
    for part in content:
        found.update(part)
    return str(found.hexdigest())


def _walk(project: str, below: str, hidden: bool = False) -> Iterator[str]:
    """The files below a folder of the project, without what is made anew, and without hidden folders if not wanted."""
    for folder, folders, files in os.walk(os.path.join(project, below) if below else project):
        seen = [name for name in folders if name not in MADE and name != ".git"]
        folders[:] = [name for name in seen if hidden or name[0] != "." or name == ".github"]
        for name in files:
            if not name.endswith(".pyc"):
                yield os.path.relpath(os.path.join(folder, name), project).replace(os.sep, "/")
