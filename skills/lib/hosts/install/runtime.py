"""The runtimes of installed skills: copies of this library in the user's data folder, one folder for each version.

    <data folder>/runtimes/<version>/VERSION, LICENSE
    <data folder>/runtimes/<version>/skills/             the package, with conventions, policies and roles inside
    <data folder>/runtimes/<version>/lockstep/           the names that graphs may import in place of the package's

The data folder is LOCKSTEP_DATA, else ``lockstep`` in XDG_DATA_HOME or ~/.local/share (on Windows in LOCALAPPDATA). The
script template of an installation looks in the same places.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import metadata

from skills import __version__
from skills.lib import files, paths
from skills.lib.errors import EnvironmentProblem, LockstepError, SkillError
from skills.lib.hosts.install import manifest, signature, source
from skills.lib.hosts.install.locations import Locations, locations, remove_empty_above
from skills.lib.hosts.known_hosts import HOSTS, SCOPES
from skills.lib.ledger import Ledger, listing

# A draft that is so old (seconds) was left by a process that was stopped.
_ABANDONED = 600.0
# What a checkout has beside the package.
SHARED = ("conventions", "policies", "roles")


def folder(version: str) -> str:
    """The folder of a version."""
    return os.path.join(paths.data(), "runtimes", version)


def versions() -> list[str]:
    """The versions that are there, sorted."""
    try:
        return sorted(name for name in os.listdir(folder("")) if os.path.isfile(os.path.join(folder(name), "VERSION")))
    except OSError:
        return []


@cache
def version() -> str:
    """The version of this library: the package's, with a digest of the content in a checkout."""
    root = os.path.dirname(source.package())
    stated = os.path.join(root, "VERSION")
    if os.path.isfile(stated):  # this is a runtime
        return source.read(stated).decode().strip()
    if not os.path.isfile(os.path.join(root, "pyproject.toml")):
        return __version__
    content = hashlib.sha256()
    for name, data in contents().items():
        content.update(b"%d %s %d\n" % (len(name), name.encode(), len(data)) + data)
    return f"{__version__}+{content.hexdigest()[:12]}"


@cache
def contents() -> dict[str, bytes]:
    """Every file of the runtime but VERSION, by path below its folder, sorted."""
    package = source.package()
    found = {"LICENSE": license_text()}
    for path in source.walk(package, sealed=True):
        found["skills/" + os.path.relpath(path, package).replace(os.sep, "/")] = source.read(path)
    for path in source.walk(source.facade()):
        found["lockstep/" + os.path.relpath(path, source.facade()).replace(os.sep, "/")] = source.read(path)
    for kind in SHARED:
        beside = os.path.join(os.path.dirname(package), kind)
        is_inside = os.path.isdir(os.path.join(package, kind))  # as in an installed package
        for path in () if is_inside else source.walk(beside):
            found[f"skills/{kind}/{os.path.relpath(path, beside)}"] = source.read(path)
    return dict(sorted(found.items()))


def ensure() -> str:
    """Make the runtime of this library if it is missing or damaged, and return its version.

    It is written beside and then renamed: two that do so at once both have it, and a draft that a stopped process left
    is removed by the next. Raises EnvironmentProblem if it cannot be written.
    """
    wanted = {**contents(), "VERSION": version().encode() + b"\n"}
    place = folder(version())
    remove_old_drafts()
    if not _is_this(version()) and not _is_whole(place, wanted):
        try:
            files.write_folder(place, wanted, replace=os.path.lexists(place))
        except OSError as error:
            if not _is_whole(place, wanted):  # no other process was faster
                raise EnvironmentProblem(
                    f"the runtime {place} cannot be written: {error.strerror or error}",
                    remedy="make room, or set LOCKSTEP_DATA to another folder, here and where the agent is started",
                ) from error
    return version()


def remove(one: str) -> None:
    """Remove a version."""
    shutil.rmtree(folder(one), ignore_errors=True)


def tidy() -> None:
    """Forget the projects in which nothing is installed any more, and remove what is empty then."""
    remove_old_drafts()
    with suppress(OSError):
        for name in os.listdir(_projects()):
            path = os.path.join(_projects(), name)
            with suppress(LockstepError, OSError, ValueError):
                with open(path, encoding="utf-8") as file:
                    known = file.read()
                if not any(manifest.read(place, foreign=True) for place in _places(known, ("project",))):
                    os.unlink(path)
    for place in (_projects(), folder("")):
        with suppress(OSError):
            os.rmdir(place)
    if not os.path.isdir(_projects()):
        signature.forget()
    with suppress(OSError):
        os.rmdir(paths.data())
    remove_empty_above(paths.data())


def remove_old_drafts() -> None:
    """Remove what processes that were stopped left beside the versions."""
    parent = folder("")
    with suppress(OSError):
        for name in os.listdir(parent):
            path = os.path.join(parent, name)
            if name.startswith(".") and time.time() - os.stat(path).st_mtime > _ABANDONED:
                shutil.rmtree(path, ignore_errors=True)


def register(project: str) -> None:
    """Remember that something is installed in a project, so that its runtime is kept. Does nothing if that fails."""
    name = hashlib.sha256(project.encode()).hexdigest()[:16]
    with suppress(OSError):
        files.write(os.path.join(_projects(), name), project.encode())


def unneeded(project: str) -> list[str]:
    """The runtimes that no installation in a known project or of the user names, and no open run.

    The one that runs now is needed. Raises LockstepError if a manifest or a ledger cannot be read: it may name any.
    """
    needed = {one for one in versions() if _is_this(one)}
    needed |= {found.version for place in places(project) if (found := manifest.read(place, foreign=True))}
    for one in {project, *_known_projects()}:
        needed |= _of_open_runs(one)
    if needed:  # a project that was moved may name it
        needed.add(version())
    return [one for one in versions() if one not in needed]


def places(project: str) -> list[Locations]:
    """Where something may be installed: for the user, in this project, and in those in which something was."""
    return [place for one in dict.fromkeys((project, *_known_projects())) for place in _places(one)]


def _places(project: str, scopes: Sequence[str] = SCOPES) -> list[Locations]:
    return [locations(host, scope, project) for host in HOSTS for scope in scopes]


def _is_this(one: str) -> bool:
    """True if this library runs from that runtime."""
    return os.path.realpath(os.path.dirname(source.package())) == os.path.realpath(folder(one))


def _known_projects() -> list[str]:
    """The projects in which something was installed and that are still there."""
    found = []
    with suppress(OSError):
        for name in os.listdir(_projects()):
            with open(os.path.join(_projects(), name), encoding="utf-8") as file:
                found.append(file.read())
    return [project for project in found if os.path.isdir(project)]


def _of_open_runs(project: str) -> set[str]:
    """The runtimes that hold the script of an open run of that project."""
    above, ledger = folder(""), Ledger.existing(paths.home(project))
    if ledger is None:
        return set()
    with ledger:
        scripts = [run.script for run in listing.unended(ledger)]
    return {script.removeprefix(above).split(os.sep)[0] for script in scripts if script.startswith(above)}


def _projects() -> str:
    """The folder with a small file for each project in which something was installed."""
    return os.path.join(paths.data(), "projects")


def license_text() -> bytes:
    """The terms of the copied files: a checkout has them beside the package, an installation in its records."""
    beside = os.path.join(os.path.dirname(source.package()), "LICENSE")
    if os.path.isfile(beside):
        return source.read(beside)
    for file in metadata.files("lockstep-skills") or []:
        if file.name == "LICENSE":
            return file.read_binary()
    raise SkillError(
        "the LICENSE of lockstep-skills is missing", remedy="pip install --force-reinstall /path/to/lockstep"
    )


def _is_whole(place: str, wanted: dict[str, bytes]) -> bool:
    try:
        return all(source.read(os.path.join(place, *name.split("/"))) == data for name, data in wanted.items())
    except (SkillError, OSError):
        return False
