"""Where a fleet keeps what it has beside the ledger: on PostgreSQL if the ledger is there, else in files."""

from __future__ import annotations

import os

from skills.lib import paths
from skills.lib.errors import RefusedError

FOLDER = "fleet"
URL = "LOCKSTEP_LEDGER_URL"


def folder(project: str) -> str:
    """The folder of the fleet of a project. Raises RefusedError if a link leads elsewhere."""
    home = os.path.abspath(paths.home(project))
    if link := paths.link_in(home, FOLDER):
        raise RefusedError(f"{link} is a link: nothing is written through it", remedy="remove it")
    return os.path.join(home, FOLDER)


def members_url(project: str) -> str:
    """The address of the workers' database."""
    return os.environ.get(URL) or f"sqlite:///{os.path.join(folder(project), 'workers.db')}"


def queue_url(project: str) -> str:
    """The address of DBOS's database."""
    return os.environ.get(URL) or f"sqlite:///{os.path.join(folder(project), 'queue.db')}"
