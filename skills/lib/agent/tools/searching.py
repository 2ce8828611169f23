"""The tool ``search``: files by the glob of their names, and lines by a pattern that is matched in linear time."""

from __future__ import annotations

import contextlib
import os
import stat
import time

from skills.lib import paths
from skills.lib.agent.tools import workspace
from skills.lib.agent.tools.literals import literal_of
from skills.lib.agent.tools.tool import Result, Tool
from skills.lib.agent.tools.workspace import counted
from skills.lib.errors import EnvironmentProblem, RefusedError, UsageError
from skills.lib.git import Git
from skills.lib.ledger import globs
from skills.lib.schema.patterns import Pattern, PatternError, TooMuchWork, Work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from skills.lib.agent.tools.workspace import Workspace

# How long a search takes (seconds), and how many files it looks at.
SECONDS, FILES = 20.0, 200_000
# How many names and how many lines it shows, of a line so many characters, and in all.
NAMES, MATCHES, LINE, LONGEST = 500, 200, 300, 40_000
# A larger file is not searched (bytes), and of a longer line only its beginning (characters).
_LARGEST, _LONGEST_LINE = 1 << 22, 50_000
# How much work a pattern may take beside the reading of what it is looked for in.
_WORK = 20_000_000
_NOT_WALKED = paths.MADE | {".git", paths.FOLDER}


def tool(files: Workspace) -> Tool:
    """The tool ``search`` of a workspace."""

    def search(pattern: str = "", glob: str = "", path: str = ".", *, stopped: Callable[[], bool]) -> Result:
        return Result(_Search(files, pattern, glob, path, stopped).text())

    return Tool(
        name="search",
        about=(
            "Search the project: with `pattern` for lines of text files, without it for names. Files that git ignores "
            "are left out."
        ),
        parameters={
            "pattern": {
                "type": "string",
                "description": "A regular expression for a part of a line, without lookaround and back references.",
            },
            "glob": {
                "type": "string",
                "description": "Which files: *.py by their names; with a slash, such as src/**/*.py, by their paths.",
            },
            "path": {"type": "string", "description": "The folder or file that is searched; default: the project."},
        },
        required=(),
        run=search,
        reads=True,
        is_long=True,
    )


class _Search:
    """One search: what is looked for, and what was found so far."""

    def __init__(self, files: Workspace, pattern: str, glob: str, path: str, is_stopped: Callable[[], bool]) -> None:
        if not pattern and not glob:
            raise UsageError("search: neither pattern nor glob is given", valid='glob="*" lists every file')
        self.files, self.is_stopped = files, is_stopped
        self.root = files.to_read(path)
        self.until = time.monotonic() + SECONDS
        self.stopped = ""
        self.looked_at = self.left_out = self.size = 0
        self.literal, self.pattern = "", None
        if pattern:
            self.pattern = _compiled(pattern)
            self.literal = literal_of(pattern)
            self.spend = Work(_WORK).spend
        self.is_wanted = _by_name(self.root, glob)

    def text(self) -> str:
        """The lines that were found, and what was searched."""
        found: list[str] = []
        hits = 0
        most, what = (MATCHES, "lines") if self.pattern else (NAMES, "names")
        for path in self._paths():
            self.looked_at += 1
            lines = self._matches(path) if self.pattern else [self.files.name(path)]
            has_any = False
            for line in lines:
                has_any = True
                self.size += len(line) + 1
                if len(found) == most or self.size > LONGEST:
                    self.stopped = f"more than {len(found):,} {what} were found"
                    break
                found.append(line)
            hits += has_any
            if self.stopped:
                break
        return "".join(f"{line}\n" for line in found) + self._ending(len(found), hits)

    def _ending(self, count: int, hits: int) -> str:
        skipped = f"; left out: {self.left_out:,} that are binary, very large or links" if self.left_out else ""
        where = self.files.name(self.root)
        if self.pattern:
            searched = f"searched in {where}: {counted(self.looked_at, 'file')}{skipped}"
            what = f"{counted(count, 'line')} in {counted(hits, 'file')}; {searched}"
        else:
            what = f"{counted(count, 'file')} in {where}"
        stopped = f"; stopped: {self.stopped}: narrow pattern, glob or path" if self.stopped else ""
        return f"[{what}{stopped}]\n"

    def _paths(self) -> Iterator[str]:
        """The files that are searched, by path."""
        if not os.path.isdir(self.root):
            yield self.root
            return
        names = sorted(name for name in self._names() if self.is_wanted(name))
        for name in names:
            if not self._has_time():
                return
            yield os.path.join(self.root, name)

    def _names(self) -> Iterator[str]:
        """The paths of files below the folder, relative to it: those of git, else all but what programs make."""
        for count, name in enumerate(_listed(self.root)):
            if not self._has_time():
                return
            if count == FILES:
                self.stopped = f"there are more than {FILES:,} files"
                return
            yield name

    def _has_time(self) -> bool:
        if not self.stopped and time.monotonic() > self.until:
            self.stopped = f"{SECONDS:.0f} seconds are over"
        elif not self.stopped and self.is_stopped():
            self.stopped = "the session was stopped"
        return not self.stopped

    def _matches(self, path: str) -> Iterator[str]:
        """The lines of a file that match, with their places."""
        data = self._content(path)
        if self.literal and self.literal.encode() not in data:
            return
        name = self.files.name(path)
        assert self.pattern is not None
        for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
            if self.literal and self.literal not in line:
                continue
            text = line.removesuffix("\r")
            try:
                is_found = self.pattern.is_found_in(text[:_LONGEST_LINE], self.spend)
            except TooMuchWork:
                self.stopped = "the pattern takes too much work"
                return
            if is_found:
                yield f"{name}:{number}: {text if len(text) <= LINE else text[:LINE] + '…'}"
            if not self._has_time():
                return

    def _content(self, path: str) -> bytes:
        """The content of a text file; empty for what is not searched."""
        try:
            about = os.lstat(path)
            if stat.S_ISREG(about.st_mode) and about.st_size <= _LARGEST:
                data = workspace.content(path, path)
                if not workspace.is_binary(data):
                    return data
        except (OSError, UsageError, RefusedError, EnvironmentProblem):  # it is gone, or closed to us
            pass
        self.left_out += 1
        return b""


def _compiled(pattern: str) -> Pattern:
    try:
        return Pattern(pattern)
    except PatternError as error:
        raise UsageError(
            f"{pattern!r:.200} is no pattern: {error}",
            valid="a regular expression of JSON Schema: no lookaround, back references or flags",
            remedy=f'put a backslash before a sign that is meant as itself: pattern="{_escaped(pattern)}"',
        ) from None


def _escaped(pattern: str) -> str:
    """The pattern of a text as it stands."""
    return "".join(f"\\{sign}" if sign in r"\.[]{}()*+?^$|" else sign for sign in pattern)


def _by_name(root: str, glob: str) -> Callable[[str], object]:
    """A function that is true for the relative paths of wanted files."""
    if not glob:
        return lambda name: True
    covers = globs.matcher(root, [glob])
    return covers if "/" in glob else lambda name: covers(name.rpartition("/")[2]) or covers(name)


def _listed(root: str) -> Iterator[str]:
    """The relative paths of what is no folder below a folder; a repository in it is asked for its own."""
    waiting, seen = [""], {""}
    while waiting:
        below = waiting.pop()
        folder = os.path.join(root, below)
        printed = Git(folder).output("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        for name in dict.fromkeys(os.fsdecode(printed or b"").split("\0")) if printed else _walked(folder):
            if not name:
                continue
            path = os.path.normpath(os.path.join(below, name))
            with contextlib.suppress(OSError):
                if stat.S_ISDIR(os.lstat(os.path.join(root, path)).st_mode):
                    if path not in seen:
                        waiting.append(path)
                        seen.add(path)
                else:
                    yield path


def _walked(folder: str) -> Iterator[str]:
    for at, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _NOT_WALKED]
        for name in names:
            yield os.path.relpath(os.path.join(at, name), folder)
