"""Reads the settings of a host, which may be anything that a clone brings along, and finds hooks switched off."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from typing import Any

from skills.lib.hosts.doctor.context import SCOPES, DoctorContext

_LIMIT = 20_000_000
# Host -> the key with which settings switch all hooks off, and the value that does.
_SWITCHES: dict[str, tuple[tuple[str, ...], bool]] = {
    "claude": (("disableAllHooks",), True),
    "qwen": (("disableAllHooks",), True),
    "gemini": (("hooksConfig", "enabled"), False),
}


def read(path: str) -> bytes | None:
    """A regular file's content; None for anything else, which could have no end, or wait for a writer."""
    if is_odd(path):
        return None
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        with os.fdopen(file, "rb") as opened:
            regular = stat.S_ISREG(os.fstat(file).st_mode)
            return opened.read(_LIMIT) if regular else None
    except (OSError, ValueError):
        return None


def is_odd(path: str) -> bool:
    """Whether something is there that is no regular file, links followed."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def switched_off(context: DoctorContext, host: str) -> Iterator[tuple[str, str]]:
    """Each settings file, of either scope, that switches all hooks of a host off: its path, and the key."""
    if host not in _SWITCHES:
        return
    keys, value = _SWITCHES[host]
    paths = [context.place(host, scope).hooks for scope in SCOPES]
    if host == "claude":  # the project's settings for all who work in it
        paths.insert(1, os.path.join(os.path.dirname(paths[0]), "settings.json"))
    for path in dict.fromkeys(paths):
        if _at(read(path), keys) is value:
            yield path, ".".join(keys)


def _at(data: bytes | None, keys: tuple[str, ...]) -> Any:
    try:
        found: Any = json.loads((data or b"{}").decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found
