"""``+ - * /`` of expressions: numbers, texts, lists, dates and durations."""

from __future__ import annotations

from skills.lib.guard.values import ABSENT, UNKNOWN, Fault, is_moment, is_number, is_partial, is_unseen, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# A product of larger numbers could grow without end.
LARGEST = 10**300


def calculated(operator: str, left: Any, right: Any) -> Any:
    """The value of ``+ - * /``."""
    if isinstance(left, Fault) or isinstance(right, Fault):
        return left if isinstance(left, Fault) else right
    for value in (left, right):
        if (
            value is None
            or value is ABSENT
            or isinstance(value, bool)
            or (isinstance(value, dict) and not is_unseen(value))
        ):
            return Fault(f"{kind_of(value)} cannot be calculated with")
    if is_partial(left) or is_partial(right):
        is_text = isinstance(left, (str, list)) or isinstance(right, (str, list))
        if (is_text and operator != "+") or (operator == "/" and is_number(right) and right == 0):
            return Fault("a text or list can only be added to" if is_text else "a division by zero")
        return UNKNOWN
    try:
        value = _calculated(operator, left, right)
    except ZeroDivisionError:
        return Fault("a division by zero")
    except (OverflowError, ValueError):
        return Fault("a number or date out of range")
    if value is None or value != value or value in (float("inf"), float("-inf")):
        return Fault(f"{kind_of(left)} {operator} {kind_of(right)} has no value")
    return value


def _calculated(operator: str, left: Any, right: Any) -> Any:
    if isinstance(left, (int, float)) and isinstance(right, (int, float)):
        if operator in ("+", "-"):
            return left + right if operator == "+" else left - right
        if operator == "/":
            return left / right
        return left * right if abs(left) < LARGEST and abs(right) < LARGEST else None
    if operator == "+" and isinstance(left, str) and isinstance(right, str):
        return left + right
    if operator == "+" and isinstance(left, list) and isinstance(right, list):
        return [*left, *right]
    if operator in ("+", "-") and (is_moment(left) or is_moment(right)):
        from skills.lib.guard.moments import added

        return added(left, right, 1 if operator == "+" else -1)
    if is_moment(left) and is_number(right) and type(left).__name__ == "timedelta":
        return left * right if operator == "*" else left / right if operator == "/" else None
    return None
