"""New seals for installed skills whose graph or texts the user changed: they are validated, and start again."""

from __future__ import annotations

import os
from dataclasses import replace

from skills.lib.hosts.install import manifest, plan, source
from skills.lib.hosts.install.disk import Disk
from skills.lib.hosts.install.plan import Plan


def renew(done: Plan) -> Plan:
    """Write a seal beside each workflow of the skills that the user changed, and return the plan with these files.

    Raises InvalidWorkflow and its kin for a graph that is not valid.
    """
    place, then, found = done.place, done.then, dict[str, bytes]()
    for name in sorted(done.edited_skills()):
        folder = os.path.join(place.skills, name)
        for path, data in source.seals(folder, source.files(folder)).items():
            if not _is_shipped(os.path.join(name, *path.split("/")), data):
                found[os.path.join(folder, *path.split("/"))] = data
    if then is None or not found:
        return done
    then = replace(then, files={**then.files, **{path: (plan.digest(data),) for path, data in found.items()}})
    if then != done.then:
        manifest.write(place, then)
    disk = Disk(place.bases)
    for path, data in found.items():
        if disk.read(path) != data:
            disk.put(path, data)
    return replace(done, then=then)


def _is_shipped(path: str, data: bytes) -> bool:
    """True if the shipped skill of that name has the same seal: the script finds it there."""
    shipped = os.path.join(source.package(), path)
    return os.path.isfile(shipped) and source.read(shipped) == data
