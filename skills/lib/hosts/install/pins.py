"""Which runtimes are still needed: what each installation names, and each run that is open.

The projects in which something was installed are listed in the data folder, one small file for each.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress

from skills.lib import files, paths
from skills.lib.errors import LockstepError
from skills.lib.hosts.install import locations, manifest, runtime
from skills.lib.hosts.known_hosts import HOSTS, SCOPES


def register(project: str) -> None:
    """Remember that something is installed in a project; nothing if it cannot be written."""
    name = hashlib.sha256(project.encode()).hexdigest()[:16]
    with suppress(OSError):
        files.write(os.path.join(_folder(), name), project.encode())


def unneeded(project: str) -> list[str]:
    """The runtimes that no installation in a known project or of the user names, and no open run.

    None if a manifest or a ledger cannot be read: it may name any.
    """
    needed = {runtime.version()}
    try:
        for one in {project, *_projects()}:
            places = [locations.locations(host, scope, one) for host in HOSTS for scope in SCOPES]
            needed |= {found.version for place in places if (found := manifest.read(place)) is not None}
            needed |= _of_open_runs(one)
    except LockstepError:
        return []
    return [version for version in runtime.versions() if version not in needed]


def _projects() -> list[str]:
    """The projects that are listed and still there."""
    found = []
    with suppress(OSError):
        for name in os.listdir(_folder()):
            with open(os.path.join(_folder(), name), encoding="utf-8") as file:
                found.append(file.read())
    return [project for project in found if os.path.isdir(project)]


def _of_open_runs(project: str) -> set[str]:
    """The runtimes that hold the script of a run of that project which has not ended."""
    from skills.lib.ledger import Ledger
    from skills.lib.ledger.database import FILE

    above = runtime.folder("")
    if not os.path.exists(os.path.join(paths.home(project), FILE)):
        return set()
    ledger = Ledger(paths.home(project), create=False)
    try:
        scripts = [run.script for run in ledger.every_run() if not run.ended]
    finally:
        ledger.close()
    return {script.removeprefix(above).split(os.sep)[0] for script in scripts if script.startswith(above)}


def _folder() -> str:
    return os.path.join(runtime.data_folder(), "projects")
