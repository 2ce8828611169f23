"""Where skills are taken from to be installed or exported: their own folders, never copies of them."""

from __future__ import annotations

import os
from collections.abc import Sequence

from skills.lib.commands.queries import skills
from skills.lib.errors import UsageError
from skills.lib.hosts.install import source


def every(project: str) -> dict[str, str]:
    """The folder of each skill by its name: the shipped ones, and the project's own under other names.

    Where a project has two of one name, the one in a host's hidden folder is the copy.
    """
    found = shipped()
    own = [str(skill.path) for skill in skills.find(project)]
    for folder in sorted(own, key=lambda folder: f"{os.sep}." in folder.removeprefix(project)):
        if not source.is_copy(folder):
            found.setdefault(os.path.basename(folder), folder)
    return found


def shipped() -> dict[str, str]:
    """The folder of each skill that comes with Lockstep."""
    return {skill.name: str(skill.path) for skill in skills.find(skills.shipped(), skills.shipped())}


def chosen(project: str, names: Sequence[str]) -> dict[str, str]:
    """The folders of the skills of these names or paths; UsageError for an unknown one, or for two of one name."""
    known = shipped()
    found: dict[str, str] = {}
    for name in names:
        if name in known:
            folder = known[name]
        else:
            given = skills.folder_of(project, name)
            assert given is not None
            name, folder = given.name, str(given.path)
        if found.setdefault(name, folder) != folder:
            raise UsageError(f"two skills are called {name}: {found[name]} and {folder}", remedy="give one of them")
    return found
