"""Compiled policies in the user's cache, by the checksum of their text: a hook finds them there, and needs no YAML."""

from __future__ import annotations

import os

from skills.lib import compact_json, files, paths
from skills.lib.guard.compiled import FORMAT, seal_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def keep(compiled: Mapping[str, Any]) -> None:
    """Keep a compiled policy; if that fails, whoever needs it compiles anew."""
    try:  # noqa: SIM105  contextlib costs the hook 2 ms
        files.write(_place(compiled["source"]), compact_json.ordered(compiled).encode())
    except OSError:
        pass


def read(digest: str) -> dict[str, Any] | None:
    """The compiled form of the text with that checksum; None if there is none that this version can use."""
    try:
        with open(_place(digest), "rb") as file:
            compiled = compact_json.loads(file.read().decode())
    except (OSError, ValueError):
        return None
    is_usable = isinstance(compiled, dict) and (compiled.get("format"), compiled.get("source")) == (FORMAT, digest)
    return compiled if is_usable and compiled.get("seal") == seal_of(compiled) else None


def _place(digest: str) -> str:
    return os.path.join(os.path.abspath(paths.cache()), "policies", digest + ".json")
