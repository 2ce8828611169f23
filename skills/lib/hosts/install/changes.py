"""What an installation does: each file with what happens to it and why, as a plan that is shown or carried out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from skills.lib.hosts.install.locations import Locations
from skills.lib.hosts.install.manifest import Manifest

# What happens to a file; the first five change it, the others leave it. EDIT is for the user's settings.
ADD, UPDATE, EDIT, DELETE, RESTORE = "add", "update", "edit", "delete", "restore"
SAME, KEEP, SHARED = "same", "keep", "shared"
# A settings file that our entries cannot be taken out of, as it is no plain JSON any more.
STUCK = "stuck"
# A file in the folder of an installed skill that could be loaded as code, and that no installation wrote.
FOREIGN = "foreign"
CHANGING = frozenset({ADD, UPDATE, EDIT, DELETE, RESTORE})
# A file that stayed at an uninstallation because the user had changed it.
KEPT = "kept"
# What happens to a file, as the state that the file is in.
_STATES = {
    SAME: "current",
    SHARED: "current",
    UPDATE: "stale",
    EDIT: "stale",
    ADD: "stale",
    DELETE: "stale",
    RESTORE: "missing",
    KEEP: "changed",
    KEPT: "kept",
    STUCK: "stuck",
    FOREIGN: "foreign",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One file: what happens to it, what it is, and why. ``data`` is its content to come."""

    action: str
    path: str
    what: str
    why: str = ""
    data: bytes | None = None

    @property
    def state(self) -> str:
        """The state of an installed file: current, changed, missing, stale, kept, stuck or foreign.

        A kept file stayed at an uninstallation because the user had changed it. Stuck is a settings file that hooks
        were to be taken out of and that is no plain JSON.
        """
        return _STATES[self.action]


@dataclass(frozen=True, slots=True)
class Plan:
    """Every change, in the order of paths, and the manifest as it will be (None: none) and as it was."""

    place: Locations
    changes: tuple[Change, ...]
    then: Manifest | None
    before: Manifest | None = None

    def kept(self) -> list[Change]:
        """The files that stay as the user has them, although the installation has others."""
        return [change for change in self.changes if change.action == KEEP]

    def foreign(self) -> list[Change]:
        """The files of code in the folders of installed skills that no installation wrote; they stay."""
        return [change for change in self.changes if change.action == FOREIGN]

    def stuck(self) -> list[Change]:
        """The settings files that stay because they cannot be edited."""
        return [change for change in self.changes if change.action == STUCK]


def edited_skills(changes: Iterable[Change], files: Mapping[str, object]) -> set[str]:
    """The skills of which the user changed a file that an installation wrote; ``files`` are those that it wrote.

    A file that was there before is not the user's edit: a cloned project may have brought it along.
    """
    kept = [change.what for change in changes if change.action == KEEP and change.path in files]
    return {what.removeprefix("skill ") for what in kept if what.startswith("skill ")}


def digest(data: bytes) -> str:
    """The digest of a file's content, as manifests have it."""
    return hashlib.sha256(data).hexdigest()
