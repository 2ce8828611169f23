"""The launcher of short commands and its entries in the user's state folder, which go when nothing needs them."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import NamedTuple

from skills.lib import files, launcher, paths
from skills.lib.errors import LockstepError
from skills.lib.hosts.install import manifest, runtime
from skills.lib.hosts.install.locations import Locations
from skills.lib.ledger import Ledger, listing
from skills.lib.status_files import is_id


class Leftover(NamedTuple):
    """A launcher that nothing needs, and the paths of its entries."""

    path: str
    entries: list[str]

    def __str__(self) -> str:
        entries = "the entry of 1 run" if len(self.entries) == 1 else f"the entries of {len(self.entries)} runs"
        return f"The launcher of short commands {self.path}" + (f" and {entries}" if self.entries else "")


def unneeded(project: str, without: Locations | None = None) -> Leftover | None:
    """The launcher if nothing is installed any more, but for what is ``without``, and no run with an entry is open.

    None if there is no launcher, or something needs it; a manifest or a ledger that cannot be read may.
    """
    path = launcher.place()
    folder = os.path.join(os.path.dirname(path), launcher.ENTRIES)
    with suppress(LockstepError):
        if any(place != without and manifest.installed(place) for place in runtime.places(project)):
            return None
        names = [] if os.path.islink(folder) or not os.path.isdir(folder) else sorted(os.listdir(folder))
        runs = [name for name in names if is_id(name)]
        if (os.path.lexists(path) or runs) and not _is_open(os.path.dirname(path), runs):
            return Leftover(path, [os.path.join(folder, name) for name in runs])
    return None


def _is_open(state: str, runs: list[str]) -> bool:
    """True if one of the runs with these entries has not ended. Raises LockstepError if a ledger cannot be read."""
    of_projects: dict[str, set[str]] = {}
    for run_id in runs:
        for project in launcher.read(state, run_id)[2:]:
            of_projects.setdefault(project, set()).add(run_id)
    for project, known in of_projects.items():
        ledger = Ledger.existing(paths.home(project)) if os.path.isdir(project) else None
        if ledger is not None:
            with ledger:
                if any(run.id in known for run in listing.unended(ledger)):
                    return True
    return False


def remove(leftover: Leftover) -> None:
    """Remove a launcher and its entries."""
    for path in (leftover.path, *leftover.entries):
        files.remove(path)
    with suppress(OSError):  # something else is in it
        os.rmdir(os.path.join(os.path.dirname(leftover.path), launcher.ENTRIES))
