"""Finds the library ``skills.lib``, also if another package ``skills`` is nearer on the path.

A repository may have a package ``skills`` of its own, which Python then finds before Lockstep's: the working directory
is often first on the path. The package ``lockstep`` is not hidden by it.

Graphs import ``lockstep`` too, so this is on the step path: it imports nothing that Python has not loaded already.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec, PathFinder
    from types import ModuleType
    from typing import Any
else:
    from _frozen_importlib_external import PathFinder

# The folder that holds this package, and Lockstep's package skills in it.
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGE = os.path.join(ROOT, "skills")
# What the package skills of a user does not have, as a rule.
PARTS = ("skills.lib", "skills.bootstrap")


class Hidden(ModuleNotFoundError):
    """Another module hides the library; the message says which, and what to do."""


class Finder:
    """The last of the import system's finders: it finds a part of Lockstep that another package ``skills`` lacks."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> "ModuleSpec | None":
        """The spec of one of PARTS; None for any other module. Raises Hidden for a module below a hidden part."""
        if name in PARTS:
            return PathFinder.find_spec(name, [PACKAGE])
        if name.startswith("skills.lib.") and _has(name):
            _check()
        return None


class OwnFirst:
    """The first of the finders: it finds a module ``skills`` in given folders if Lockstep's would be found instead."""

    def __init__(self, *folders: str) -> None:
        self.folders = folders

    def find_spec(self, name: str, path: object = None, target: object = None) -> "ModuleSpec | None":
        """The spec of ``skills`` in the first folder that has the module, if Lockstep's would be found; else None."""
        found = PathFinder.find_spec(name) if name == "skills" else None
        if found is None or not found.origin or not _is_lockstep(os.path.dirname(found.origin)):
            return None
        own = PathFinder.find_spec(name, self.folders)
        return own if own is not None and own.origin else None


def use() -> None:
    """Let ``skills.lib`` be found beside another package ``skills`` from now on. Nothing is imported."""
    if Finder not in sys.meta_path:
        sys.meta_path.append(Finder)


def load(name: str) -> "Any":
    """Import a module of the library and return it. Raises Hidden if another module hides the library.

    A library that is imported already serves, also if it is the copy of another installation.
    """
    use()
    try:
        for part in PARTS:
            __import__(part)
    except ImportError:
        pass  # what hides the library is told below; any other error is raised again by the last line
    _check()
    __import__(name)
    return sys.modules[name]


def _check() -> None:
    """Raise Hidden if another module was imported in place of a part of Lockstep."""
    for name in ("skills", *PARTS):
        module = sys.modules.get(name)
        if module is None or (name == "skills" and hasattr(module, "__path__")):
            continue  # a package without those parts hides nothing: the finder serves them
        if not _is_lockstep(os.path.dirname(_place(module))):
            found = getattr(module, "__file__", None) or _place(module)
            remedy = "rename it, or run the command where it is not on Python's path (working directory, PYTHONPATH)"
            raise Hidden(f"{found} hides Lockstep's own {PACKAGE}\n  try:   {remedy}", name=name)


def _place(module: "ModuleType") -> str:
    """The folder of a package, the file of any other module."""
    return str(next(iter(getattr(module, "__path__", ())), None) or getattr(module, "__file__", None) or "")


def _is_lockstep(folder: str) -> bool:
    """True if a folder is the package ``skills`` of some Lockstep."""
    return os.path.isfile(os.path.join(folder, "lib", "runtime", "script.py"))


def _has(name: str) -> bool:
    """True if this Lockstep has a module of that name."""
    place = os.path.join(ROOT, *name.split("."))
    return os.path.isfile(place + ".py") or os.path.isdir(place)
