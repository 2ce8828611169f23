"""Three truth values and two ways to fail: what ``and``, ``or`` and ``not`` make of them."""

from __future__ import annotations

from skills.lib.guard.values import ABSENT, UNKNOWN, Failing, Fault, is_unseen, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def truth(value: Any) -> Any:
    """True, False, UNKNOWN or a Fault."""
    if value is True or value is False or value is UNKNOWN or isinstance(value, Fault):
        return value
    if is_unseen(value):
        return UNKNOWN
    return Fault("is not there" if value is ABSENT else f"is not a yes or no ({kind_of(value)})")


def all_of(values: Iterator[Any]) -> Any:
    """False if a value is False; Failing if one is a Fault and another not known; a Fault, UNKNOWN, else True."""
    fault, unknown = None, False
    for value in values:
        if value is False:
            return False
        if isinstance(value, Fault):
            fault = fault or value
            unknown = unknown or isinstance(value, Failing)
        elif value is UNKNOWN:
            unknown = True
    if fault is None:
        return UNKNOWN if unknown else True
    return Failing(fault.reason) if unknown else fault


def any_of(values: Iterator[Any]) -> Any:
    """True if a value is True, else UNKNOWN if there is one, a Fault, Failing, else False."""
    result: Any = False
    for value in values:
        if value is True:
            return True
        if value is UNKNOWN or result is False or (isinstance(result, Failing) and value is not False):
            result = value
    return result


def negated(value: Any) -> Any:
    """The opposite of True or False; anything else as it is."""
    return not value if isinstance(value, bool) else value


def is_false(value: Any) -> bool:
    """True if a need with this value is FALSE: false, a fault, or no yes or no."""
    if value is True or value is UNKNOWN:
        return False
    return not is_unseen(value)
