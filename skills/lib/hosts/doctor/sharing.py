"""A folder of skills that several hosts read: by whose installation a skill lies there, and under whom it is told."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skills.lib.errors import LockstepError
from skills.lib.hosts.doctor.context import PROGRAMS, DoctorContext
from skills.lib.hosts.doctor.installed import command

if TYPE_CHECKING:
    from skills.lib.hosts.install.manifest import Manifest


def is_told_under(context: DoctorContext, host: str, scope: str, name: str) -> bool:
    """Whether what is wrong with a skill is told under this host, and not under another that reads the same folder.

    That is the owner where it is asked about; else one whose program is there; else the first.
    """
    readers = [one for one in context.hosts if _is_same(context, one, host, scope)]
    found = _owner(context, host, scope, name)
    if found is not None and found.host in readers:
        return host == found.host
    return host == next((one for one in readers if context.program(one)), readers[0])


def renewal(context: DoctorContext, host: str, scope: str, name: str) -> str:
    """The command of its owner that writes a skill again, or takes away what is left of it; empty where it has none."""
    found = _owner(context, host, scope, name)
    if found is None:
        return ""
    if found.uninstalled:
        return command(context, "uninstall", found.host, scope, "--force")
    # A file of a skill that is no part of the installation any more was kept, and goes with --force.
    return command(context, "upgrade", found.host, scope, *(() if name in found.skills else ("--force",)))


def _owner(context: DoctorContext, host: str, scope: str, name: str) -> Manifest | None:
    """The manifest that has files of a skill; one of an installation before one of what an uninstallation kept."""
    skill = os.path.join(context.place(host, scope).skills, name) + os.sep
    found = []
    for other in (*PROGRAMS, "agents"):
        try:
            told = context.record(other, scope) if _is_same(context, other, host, scope) else None
        except LockstepError:  # told by the checks of that host
            continue
        if told is not None and any(path.startswith(skill) for path in told.files):
            found.append(told)
    return min(found, key=lambda told: told.uninstalled, default=None)


def _is_same(context: DoctorContext, one: str, other: str, scope: str) -> bool:
    """Whether two hosts read the same folder of skills."""
    return context.place(one, scope).skills == context.place(other, scope).skills
