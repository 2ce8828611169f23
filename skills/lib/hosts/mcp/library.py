"""The skills that are served, as files: what belongs to a skill, under which URI, with which digest.

A URI is looked up among those of the skill's files and never turned into a path, so none leads anywhere else. Hidden
files, links that lead out of the skill's folder and what is no regular file do not belong to it.
"""

from __future__ import annotations

import mimetypes
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

from skills.lib import paths
from skills.lib.skillfile import SkillFileError, SkillFolder, check_specification
from skills.lib.skillfile.discovery import SKIPPED, walk
from skills.lib.skillfile.source import FILE_NAME, read_bytes

_T = TypeVar("_T")
SCHEME = "skill://"
DIRECTORY = "inode/directory"
# What every host accepts of one skill (SEP-2640, Limits).
FILES_LIMIT, BYTES_LIMIT = 512, 16 * 1024 * 1024
_TYPES = {".md": "text/markdown", ".py": "text/x-python", ".seal": "text/plain", ".json": "application/json"}


class File(NamedTuple):
    """A file of a skill: its bytes as they were read, and what they are."""

    uri: str
    name: str
    data: bytes

    @property
    def digest(self) -> str:
        """The digest in the form of the skills extension."""
        return f"sha256:{sha256(self.data).hexdigest()}"

    @property
    def type(self) -> str:
        """The media type, by the name's ending."""
        ending = os.path.splitext(self.name)[1]
        guessed = _TYPES.get(ending) or mimetypes.guess_type(self.name)[0]
        return guessed or ("text/plain" if self.text is not None else "application/octet-stream")

    @property
    def text(self) -> str | None:
        """The content as text; None if it is not UTF-8."""
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError:
            return None


class Skill(NamedTuple):
    """A skill: its folder, and why it is not served (empty if it is)."""

    folder: SkillFolder
    problem: str

    @property
    def root(self) -> str:
        """The URI of its folder."""
        return SCHEME + quote(self.folder.name)

    @property
    def uri(self) -> str:
        """The URI of its SKILL.md."""
        return f"{self.root}/{FILE_NAME}"

    @property
    def description(self) -> str:
        """What its SKILL.md says it is for."""
        return self.folder.loaded.description if self.folder.loaded else ""

    def paths(self) -> dict[str, Path]:
        """The resolved path of each of its files, by URI, sorted."""
        base = os.path.realpath(self.folder.path)
        found = {f"{self.root}/{quote(name)}": path for name, path in _files(base)}
        return dict(sorted(found.items()))

    def file(self, uri: str) -> File | None:
        """The file of that URI, read now; None if the skill has none. Raises SkillFileError if it is unreadable."""
        path = self.paths().get(uri)
        return None if path is None else File(uri, path.name, read_bytes(path, BYTES_LIMIT))

    def files(self) -> list[File]:
        """All of its files, read now. Raises SkillFileError if they are more than a host takes."""
        paths = self.paths()
        size = sum(path.stat().st_size for path in paths.values())
        if len(paths) > FILES_LIMIT or size > BYTES_LIMIT:
            what = f"has {len(paths):,} files and {size:,} bytes, hosts take {FILES_LIMIT} and {BYTES_LIMIT:,}"
            raise SkillFileError(self.folder.path, what, remedy="move what no agent reads out of the skill")
        return [File(uri, path.name, read_bytes(path, BYTES_LIMIT)) for uri, path in paths.items()]

    def children(self, uri: str) -> list[tuple[str, str]] | None:
        """The URI and media type of what is directly in a folder of the skill; None if it is no folder of the skill."""
        below = [path[len(uri) + 1 :] for path in self.paths() if path.startswith(f"{uri}/")]
        if not below or not f"{uri}/".startswith(f"{self.root}/"):
            return None
        folders = {name.partition("/")[0] for name in below if "/" in name}
        types = {name: File(uri, name, b"").type for name in below if "/" not in name} | dict.fromkeys(
            folders, DIRECTORY
        )
        return [(f"{uri}/{name}", kind) for name, kind in sorted(types.items())]

    def about(self) -> dict[str, Any]:
        """What a worker needs to know of it."""
        return {
            "name": self.folder.name,
            "uri": self.uri,
            "description": " ".join(self.description.split()),
            "problem": self.problem,
            "scripts": [
                os.path.realpath(script)
                for script in self.folder.scripts
                if os.path.isfile(paths.graph_of(str(script)))
            ],
        }


class Library:
    """The skills of a project; ``find`` discovers their folders, the ones that win a name first."""

    def __init__(self, find: Callable[[], list[SkillFolder]]) -> None:
        self._find = find
        self._known: dict[str, SkillFolder] = {}

    def skills(self) -> list[Skill]:
        """Every skill that is found now, each name once."""
        known: dict[str, SkillFolder] = {}
        for folder in self._find():
            known.setdefault(folder.name, folder)
        self._known = known
        return [_inspected(folder) for folder in known.values()]

    def served(self) -> list[Skill]:
        """The skills that can be read as resources."""
        return [skill for skill in self.skills() if not skill.problem]

    def read(self, about: Callable[[Skill, list[File]], _T]) -> list[_T]:
        """What ``about`` says of each served skill and its files, one skill after another: all may be too many to hold.

        A skill that cannot be read is left out: list_skills says why.
        """
        found = []
        for skill in self.served():
            with suppress(SkillFileError, OSError):
                found.append(about(skill, skill.files()))
        return found

    def of(self, uri: str) -> Skill | None:
        """The served skill whose folder or file the URI names.

        Folders are discovered again only if the known one is missing: a project may be large.
        """
        if not uri.startswith(SCHEME):
            return None
        segment = uri[len(SCHEME) :].partition("/")[0]
        known = next((folder for name, folder in self._known.items() if quote(name) == segment), None)
        if known is not None and (known.path / FILE_NAME).is_file():
            skill = _inspected(known)
            return None if skill.problem else skill
        return next((skill for skill in self.served() if quote(skill.folder.name) == segment), None)


def _inspected(folder: SkillFolder) -> Skill:
    if folder.error is not None:
        return Skill(folder, str(folder.error.what))
    faults = [problem.what for problem in check_specification(folder.path) if problem.severity == "error"]
    return Skill(folder, "; ".join(faults))


def _files(base: str) -> Iterator[tuple[str, Path]]:
    """Each file under the folder by its name with slashes, with the path that its links lead to."""
    for path, files, _ in walk(base):
        if any(map(_is_hidden, path.relative_to(base).parts)):
            continue
        for name in files:
            resolved = os.path.realpath(os.path.join(path, name))
            inside = os.path.relpath(resolved, base).split(os.sep)
            if any(_is_hidden(part) for part in (name, *inside)) or not os.path.isfile(resolved):
                continue
            yield os.path.relpath(os.path.join(path, name), base).replace(os.sep, "/"), Path(resolved)


def _is_hidden(name: str) -> bool:
    """True if a file or folder of that name is nobody's to read: hidden, cached, or above the skill (``..``)."""
    return name.startswith(".") or name in SKIPPED or name.endswith(".pyc")
