"""The rules that are known, by name; the package ``rules`` fills it."""

from __future__ import annotations

from types import ModuleType

BY_NAME: dict[str, ModuleType] = {}
# Those over a folder of skills.
OF_A_TREE: set[str] = set()
