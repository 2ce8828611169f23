"""Finds the library ``skills.lib``, also if another package ``skills`` is nearer on the path.

A repository may have a package ``skills`` of its own, which Python then finds before Lockstep's: the working directory
is often first on the path. The package ``lockstep`` is not hidden by it.
"""

import os
import sys
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The folder that holds this package, and Lockstep's package skills in it.
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PACKAGE = os.path.join(ROOT, "skills")
# What the package skills of a user does not have, as a rule.
PARTS = ("skills.lib", "skills.bootstrap")


class Hidden(ImportError):
    """Another module hides the library; the message says which, and what to do."""


class Finder:
    """The last of the import system's finders: it finds a part of Lockstep that another package ``skills`` lacks."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> "ModuleSpec | None":
        """The spec of one of PARTS; None for any other module."""
        return PathFinder.find_spec(name, [PACKAGE]) if name in PARTS else None


def use() -> None:
    """Let ``skills.lib`` be found beside another package ``skills`` from now on. Nothing is imported."""
    if Finder not in sys.meta_path:
        sys.meta_path.append(Finder)


def load(name: str) -> "Any":
    """Import a module of the library and return it. Raises Hidden if another module hides the library."""
    use()
    try:
        for part in PARTS:
            import_module(part)
    except ImportError:
        pass  # what hides the library is told below; any other error is raised again by the last line
    hiding = _hiding()
    if hiding:
        remedy = "rename it, or run the command where it is not on Python's path (working directory, PYTHONPATH)"
        raise Hidden(f"{hiding} hides Lockstep's own {PACKAGE}\n  try:   {remedy}", name=name)
    return import_module(name)


def _hiding() -> str:
    """The file or folder that was imported in place of Lockstep's; empty if there is none."""
    for name in ("skills", *PARTS):
        module = sys.modules.get(name)
        if module is None or (name == "skills" and hasattr(module, "__path__")):
            continue  # a package without those parts hides nothing: the finder serves them
        found = getattr(module, "__file__", None) or next(iter(module.__path__))
        folder = os.path.join(os.path.realpath(os.path.dirname(found)), "")
        if not folder.startswith(os.path.join(os.path.realpath(PACKAGE), "")):
            return str(found)
    return ""
