"""What the scripted agent reports for each skill if made-up values will not do: one module per skill."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Samples(NamedTuple):
    """Values by ``step.field`` or name, and files by path or by the name of the field that holds the path.

    ``prepare`` puts into a project what no file of it holds.
    """

    values: dict[str, Any]
    files: dict[str, str]
    prepare: Callable[[Path], None] | None = None


def samples_of(script: Path) -> Samples:
    """The samples for an entry script: VALUES, FILES and PREPARE of its skill's module, BY_SCRIPT before VALUES."""
    skill = next(folder for folder in script.parents if (folder / "SKILL.md").is_file())
    name = f"{__name__}.{skill.name.replace('-', '_')}"
    if importlib.util.find_spec(name) is None:
        return Samples({}, {})
    module = importlib.import_module(name)
    values = {**getattr(module, "VALUES", {}), **getattr(module, "BY_SCRIPT", {}).get(script.stem, {})}
    return Samples(values, getattr(module, "FILES", {}), getattr(module, "PREPARE", {}).get(script.stem))
