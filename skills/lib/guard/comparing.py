"""The comparisons of expressions: equality, membership and order, three-valued."""

from __future__ import annotations

from skills.lib.guard.truth import all_of, negated
from skills.lib.guard.values import (
    ABSENT,
    UNKNOWN,
    Distinct,
    Fault,
    Open,
    OpenDistinct,
    OpenList,
    child,
    contains,
    exists,
    is_moment,
    is_unseen,
    kind_of,
    same,
    same_members,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def compared(operator: str, left: Any, right: Any) -> Any:
    """True, False, UNKNOWN or a Fault: the comparison of two values."""
    if isinstance(left, Fault) or isinstance(right, Fault):
        return left if isinstance(left, Fault) else right
    if operator == "==":
        return same(left, right)
    if operator == "!=":
        return negated(same(left, right))
    if operator == "in":
        return _member(left, right)
    if operator == "not in":
        return negated(_member(left, right))
    return _ordered(operator, left, right)


def _member(value: Any, members: Any) -> Any:
    """Whether a value is in a list, the keys of a map, or a text; nothing is in a place that is not there."""
    if members is ABSENT:
        return False
    if isinstance(members, list):
        return contains(members, value)
    if is_unseen(members):
        return UNKNOWN
    if isinstance(members, dict):
        return _key_in(value, members)
    if isinstance(members, str):
        if isinstance(value, str):
            return value in members
        if is_unseen(value):
            return UNKNOWN
        return Fault(f"{kind_of(value)} cannot be in a text")
    return Fault(f"nothing can be in {kind_of(members)}")


def _key_in(value: Any, members: dict[str, Any]) -> Any:
    if is_unseen(value):
        return False if not members and not isinstance(members, Open) else UNKNOWN
    if type(value) is not str and type(value) is not int:
        return False
    return exists(child(members, value))


_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda left, right: bool(left < right),
    "<=": lambda left, right: bool(left <= right),
    ">": lambda left, right: bool(left > right),
    ">=": lambda left, right: bool(left >= right),
}


def _ordered(operator: str, left: Any, right: Any) -> Any:
    for value in (left, right):
        if value is None or value is ABSENT or value is True or value is False:
            return Fault(f"{kind_of(value)} is neither more nor less than anything")
    if is_unseen(left) or is_unseen(right):
        return _one_known(left if is_unseen(right) else right)
    if isinstance(left, (Distinct, OpenDistinct)) and isinstance(right, (Distinct, OpenDistinct)):
        return _subset(operator, left, right)
    if left != left or right != right:
        return Fault("a number that is none (NaN) is neither more nor less than anything")
    if (isinstance(left, (int, float)) and isinstance(right, (int, float))) or (type(left) is type(right) is str):
        return _ORDERS[operator](left, right)
    if is_moment(left) or is_moment(right):
        from skills.lib.guard.moments import aligned

        pair = aligned(left, right)
        if pair:
            return _ORDERS[operator](*pair)
    return Fault(f"{kind_of(left)} and {kind_of(right)} cannot be compared by {operator}")


def _one_known(value: Any) -> Any:
    """A comparison of order with something that is not known: a Fault if the other side is never in an order."""
    if not is_unseen(value) and (isinstance(value, dict) or type(value) in (list, OpenList)):
        return Fault(f"{kind_of(value)} is neither more nor less than anything")
    return UNKNOWN


def _subset(operator: str, left: list[Any], right: list[Any]) -> Any:
    small, large = (left, right) if operator[0] == "<" else (right, left)
    found = [contains(large, member) for member in small]
    inside = all_of(iter([*found, UNKNOWN] if isinstance(small, OpenList) else found))
    return inside if operator[1:] else all_of(iter((inside, negated(same_members(small, large)))))
