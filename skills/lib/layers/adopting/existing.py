"""What a skill has already that a draft would stand beside: a draft, a workflow, or a file with the name of one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from skills.lib import files, paths
from skills.lib.blocks.command_line import quote
from skills.lib.errors import RefusedError
from skills.lib.layers.adopting.writing import WORKFLOW, entry_of

if TYPE_CHECKING:
    from skills.lib.layers.adopting.drafting import Draft

# How much of a module is looked at, in bytes, and what the module of a workflow calls.
_LIMIT, _REGISTERS = 1_000_000, b"register_workflow"


def check(folder: str, made: Draft) -> None:
    """Raise RefusedError if the skill has a workflow, a draft of one, or a file that would be taken for its graph.

    Any other file with the name of a graph's module is noted in the draft: it stays, and ``lockstep list`` shows it.
    """
    found = os.path.join(folder, WORKFLOW)
    if os.path.lexists(found):
        raise RefusedError(
            f"{found} is there already, and nothing is overwritten",
            remedy=f"edit it, then lockstep adopt {quote(folder)} --accept; or move it away",
        )
    scripts = os.path.join(folder, "scripts")
    modules = sorted(name for name in _names(scripts) if name.endswith(paths.MODULE))
    own = os.path.basename(entry_of(folder)).removesuffix(".py") + paths.MODULE
    for name in modules:
        if _registers(os.path.join(scripts, name)):
            what = f"{made.name} has a workflow already: scripts/{name} registers one"
            raise RefusedError(what, remedy=f"lockstep show {made.name}; or move it away, to make another")
        renaming = f"git mv scripts/{name} scripts/{name.removesuffix(paths.MODULE)}_steps.py"
        what = f"scripts/{name} has the name of a workflow's module, and registers no workflow of Lockstep"
        if name == own:
            raise RefusedError(
                f"{what}; {entry_of(folder)} would take it for its graph",
                remedy=f"rename it, and what calls it: {renaming}; then lockstep adopt {quote(folder)}",
            )
        made.notes.append(f"{what}: lockstep list and validate call it broken until it is renamed: {renaming}")


def _names(folder: str) -> list[str]:
    return os.listdir(folder) if os.path.isdir(folder) else []


def _registers(path: str) -> bool:
    """True if a module calls what registers a workflow; it is not run."""
    try:
        return _REGISTERS in files.read(path, _LIMIT)
    except OSError:
        return False
