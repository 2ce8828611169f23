"""Find the skills of a tree, wherever they live: skills/, .claude/skills/, .agents/skills/ or elsewhere."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skills.lib import paths
from skills.lib.errors import UsageError
from skills.lib.skillfile.document import SkillFile, leads_into, load_skill
from skills.lib.skillfile.source import FILE_NAME, SkillFileError, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

SKIPPED = frozenset({".git", ".lockstep", ".nox", ".tox", ".venv", "__pycache__", "node_modules"})
SCRIPT_LIMIT = 1_000_000
# How many folders deep a tree is searched.
LEVELS = 100

_BOOTSTRAP = re.compile(r"^[ \t]*from skills\._?bootstrap import main\b", re.MULTILINE)
_CALL = re.compile(r"^[ \t]*main\(\s*__file__\s*[,)]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SkillFolder:
    """A folder with a SKILL.md; ``error`` says why the file, or a folder below, cannot be read.

    ``scripts`` are the entry scripts, which call the bootstrap's main, and ``workflows`` the ``*_workflow.py``
    modules, both sorted, with the ``*_workflow.json`` that a workflow.yaml is compiled to, whether or not it is there.
    """

    path: Path
    loaded: SkillFile | None
    error: SkillFileError | None
    scripts: tuple[Path, ...]
    workflows: tuple[Path, ...]

    @property
    def name(self) -> str:
        """The folder's name, which is the skill's."""
        return self.path.name


def discover(root: str | os.PathLike[str]) -> list[SkillFolder]:
    """Every skill under ``root``, sorted by path; a broken one is in the list, with its error.

    Links to folders are not followed (a folder inside the root is found at its own path). A folder that
    cannot be listed is reported like a broken skill. Raises UsageError if ``root`` is no folder.
    """
    root = Path(root)
    if not root.is_dir():
        raise UsageError(f"{root} is not a folder", valid="a folder that holds skills", remedy="check the path")
    found = []
    for folder, files, failure in walk(root):
        names = [name for name in files if name.lower() == FILE_NAME.lower()]
        if failure:
            error = SkillFileError(folder, f"cannot be listed: {failure}", remedy="make it readable, or move it away")
            found.append(SkillFolder(folder, None, error, (), ()))
        elif FILE_NAME in names:
            found.append(_inspect(folder, root))
        elif names and _reads_as_skill(folder / names[0]):
            error = SkillFileError(folder / names[0], f"must be called {FILE_NAME}", remedy=f"rename it to {FILE_NAME}")
            found.append(SkillFolder(folder, None, error, (), ()))
    return sorted(found, key=lambda skill: skill.path)


def _inspect(folder: Path, root: Path) -> SkillFolder:
    loaded, error = None, None
    try:
        loaded = load_skill(folder)
    except SkillFileError as problem:
        error = problem
    sources = [source for source in _files(folder) if source.name.endswith(".py") and leads_into(root, source)]
    scripts = tuple(sorted(source for source in sources if is_entry_script(source)))
    # A file that is compiled may lead anywhere: its source is what is looked at.
    workflows = tuple(file for file in graphs_in(folder) if leads_into(root, file) or paths.yaml_of(str(file)))
    return SkillFolder(folder, loaded, error, scripts, workflows)


def graphs_in(folder: Path) -> list[Path]:
    """The modules of graphs in the ``scripts`` of a folder, and the JSON that its YAML files are compiled to."""
    found = set()
    for file in [*_files(folder), folder / paths.YAML]:
        if paths.is_graph(str(file)):
            found.add(file)
        elif file.name.endswith("_" + paths.YAML) or (file == folder / paths.YAML and os.path.lexists(file)):
            compiled = os.path.relpath(paths.compiled_of(str(file)), os.path.abspath(folder))
            found.add(folder / compiled)  # as the folder is written, like the others
    return sorted(found)


def _files(folder: Path) -> list[Path]:
    """The files in the ``scripts`` of a skill."""
    return [Path(path, name) for path, files, _ in walk(folder / "scripts") for name in files]


def is_entry_script(path: Path) -> bool:
    """True if a script hands itself to the bootstrap's main; broken syntax does not hide it."""
    try:
        text = read_bytes(path, SCRIPT_LIMIT).decode("utf-8", "replace")
    except SkillFileError:
        return False
    return bool(_BOOTSTRAP.search(text) and _CALL.search(text))


def _reads_as_skill(file: Path) -> bool:
    """True if a file of another name is a skill all the same, and not, say, a page about skills."""
    try:
        load_skill(file)
    except SkillFileError:
        return False
    return True


def walk(root: str | os.PathLike[str]) -> Iterator[tuple[Path, list[str], str]]:
    """Each folder from ``root`` down with its files, or with the reason why it cannot be listed, in no set order.

    Links to folders are neither followed nor given. A folder that is more than LEVELS below the root is not listed.
    """
    waiting = [(os.fspath(root), 0)]
    while waiting:
        path, level = waiting.pop()
        try:
            if level > LEVELS:
                raise OSError(0, f"it is more than {LEVELS} levels down")
            with os.scandir(path) as listed:
                entries = list(listed)
        except FileNotFoundError:
            continue
        except OSError as error:
            yield Path(path), [], error.strerror or "unknown reason"
            continue
        # DirEntry.is_dir raises for a link that leads to itself.
        files = (
            entry.name for entry in entries if not (os.path.isdir(entry) if entry.is_symlink() else entry.is_dir())
        )
        yield Path(path), sorted(files), ""
        below = (entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        waiting += [
            (os.path.join(path, name), level + 1) for name in below if name not in SKIPPED and not _is_venv(path, name)
        ]


def _is_venv(folder: str, name: str) -> bool:
    return os.path.exists(os.path.join(folder, name, "pyvenv.cfg"))
