"""The settings that a SKILL.md may have: their values are texts, as all of a frontmatter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills.lib.agent.configuration.configured_keys import seconds
from skills.lib.agent.configuration.settings import MODES
from skills.lib.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 10**6):
        raise ValueError
    return int(text)


def _switch(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError
    return text.lower() == "true"


def _mode(text: str) -> str:
    if text not in MODES:
        raise ValueError
    return text


_COUNT, _SWITCH = "a whole number of 1 or more", "true or false"
# By its name in a SKILL.md: the field of Settings, what reads its value, and what a value is.
SETTABLE: dict[str, tuple[str, Callable[[str], Any], str]] = {
    "max_iterations": ("max_iterations", _count, _COUNT),
    "max_retries_per_tool": ("tool_failures", _count, _COUNT),
    "timeout_per_iteration": ("timeout_per_iteration", seconds, "a time, such as 30s or 2m"),
    "early_termination": ("early_termination", _switch, _SWITCH),
    "enable_error_recovery": ("enable_error_recovery", _switch, _SWITCH),
    "execution_mode": ("execution_mode", _mode, " or ".join(MODES)),
}
FIELDS = frozenset(field for field, _, _ in SETTABLE.values())


def read(given: Mapping[str, str], where: Callable[[str], str]) -> dict[str, Any]:
    """The fields of Settings that these values by name are; names that are no setting are left out.

    ``where`` says where a name stands, for an error. Raises UsageError for a wrong value.
    """
    found = {}
    for name, value in given.items():
        if name in SETTABLE:
            field, reads, valid = SETTABLE[name]
            try:
                found[field] = reads(value)
            except ValueError:
                raise UsageError(f"{where(name)}: {name} is {value!r:.80}", valid=valid) from None
    return found
