"""Functions for authors' own scripts, value in and string out; each module is loaded when a function is asked for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_MODULES = ("banners", "dispatch", "evidence", "gates", "guidance", "record", "resources", "steps")


def find(name: str) -> Callable[..., Any] | None:
    """The formatter of that name; None if there is none."""
    from importlib import import_module

    for part in _MODULES:
        module = import_module(f"{__name__}.{part}")
        found: Callable[..., Any] | None = vars(module).get(name)
        if name.startswith("format_") and found is not None and found.__module__ == module.__name__:
            return found
    return None
