"""The functions of expressions, and arithmetic; each gives UNKNOWN for what is not known, a Fault for what is wrong."""

from __future__ import annotations

import os

from skills.lib.guard.values import (
    ABSENT,
    UNKNOWN,
    Distinct,
    Fault,
    Open,
    OpenDistinct,
    OpenList,
    Weekday,
    contains,
    exists,
    is_moment,
    is_number,
    is_partial,
    is_unseen,
    kind_of,
    shown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Function = Callable[[list[Any], str], Any]


def _members(values: list[Any]) -> Any:
    """The members of the one list that is given, or the values themselves; UNKNOWN or a Fault if there are none."""
    if len(values) > 1:
        return values
    value = values[0]
    if value is ABSENT:
        return []
    if isinstance(value, (Open, OpenList)) or value is UNKNOWN:
        return UNKNOWN
    if isinstance(value, dict):
        there = [(part, exists(part)) for part in value.values()]
        return UNKNOWN if any(sure is UNKNOWN for _, sure in there) else [part for part, sure in there if sure]
    return value if isinstance(value, list) else Fault(f"{kind_of(value)} has no members")


def _len(values: list[Any], folder: str) -> Any:
    if isinstance(values[0], str):
        return len(values[0])
    found = _members(values)
    return len(found) if isinstance(found, list) else found


def _sum(values: list[Any], folder: str) -> Any:
    from skills.lib.guard.arithmetic import calculated

    found = _members(values)
    total: Any = 0
    for value in found if isinstance(found, list) else []:
        total = calculated("+", total, value)
    return total if isinstance(found, list) else found


def _extreme(largest: bool) -> Function:
    def found(values: list[Any], folder: str) -> Any:
        listed = _members(values)
        if not isinstance(listed, list):
            return listed
        if not listed:
            return Fault("the largest or smallest of nothing")
        best = listed[0]
        for value in listed[1:]:
            order = _order(value, best)
            if not isinstance(order, int):
                return order
            best = value if (order > 0) is largest and order else best
        order = _order(best, best)
        return best if isinstance(order, int) else order

    return found


def _order(left: Any, right: Any) -> Any:
    """-1, 0 or 1; UNKNOWN or a Fault if there is no order."""
    if left is UNKNOWN or right is UNKNOWN or isinstance(left, Open) or isinstance(right, Open):
        return UNKNOWN
    pair: Any = (left, right)
    if is_moment(left) or is_moment(right):
        from skills.lib.guard.moments import aligned

        pair = aligned(left, right)
    elif not (is_number(left) and is_number(right)) and not (isinstance(left, str) and isinstance(right, str)):
        pair = None
    if pair is None:
        return Fault(f"{kind_of(left)} and {kind_of(right)} cannot be compared")
    return (pair[0] > pair[1]) - (pair[0] < pair[1])


def _on_known(function: Callable[..., Any]) -> Function:
    """The function over values that are all known; UNKNOWN if one is not."""

    def called(values: list[Any], folder: str) -> Any:
        if any(is_partial(value) for value in values):
            return UNKNOWN
        try:
            return function(*values)
        except (OverflowError, ValueError):
            return Fault("a number or date out of range")

    return called


def _date(value: Any) -> Any:
    from skills.lib.guard.moments import to_date

    return _found(to_date(value), value, "date")


def _time(value: Any) -> Any:
    from skills.lib.guard.moments import to_time

    return _found(to_time(value), value, "time")


def _clock(value: Any) -> Any:
    from skills.lib.guard.moments import to_clock

    return _found(to_clock(value), value, "time of day")


def _found(moment: Any, value: Any, what: str) -> Any:
    return Fault(f"{shown(value)} is no {what}") if moment is None else moment


def _weekday(value: Any) -> Any:
    day = _date(value)
    return day if isinstance(day, Fault) else Weekday(day.weekday())


def _duration(unit: str) -> Callable[[Any], Any]:
    def made(value: Any) -> Any:
        from skills.lib.guard.moments import duration

        return duration(value, unit) if is_number(value) else Fault(f"{unit}({shown(value)}) is no duration")

    return made


def _years(first: Any, second: Any) -> Any:
    from skills.lib.guard.moments import years_between

    days = (_date(first), _date(second))
    return next((day for day in days if isinstance(day, Fault)), None) or years_between(*days)


def _abs(value: Any) -> Any:
    if is_number(value) or (is_moment(value) and type(value).__name__ == "timedelta"):
        return abs(value)
    return Fault(f"{kind_of(value)} has no absolute value")


def _number(value: Any) -> Any:
    if is_number(value):
        return value
    text = value.strip().replace(",", "") if isinstance(value, str) else ""
    digits = text.lstrip("+-")
    if len(text) - len(digits) <= 1 and len(digits) < 300 and digits.isascii():
        if digits.isdigit():
            return int(text)
        whole, dot, part = digits.partition(".")
        if dot and (whole + part).isdigit():
            return float(text)
    return Fault(f"{shown(value)} is no number")


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else Fault(f"{kind_of(value)} is not a text")


def _starts(text: Any, prefix: Any) -> Any:
    if isinstance(text, str) and isinstance(prefix, str):
        return text.startswith(prefix)
    return Fault("starts() takes two texts")


def _overlap(first: Any, *others: Any) -> Any:
    """True if a span of the first overlaps one of the others; each may be one span or a list of them."""
    from skills.lib.guard.moments import overlapping

    spans = [[value] if isinstance(value, str) else value for value in (first, *others)]
    if not all(isinstance(one, list) and all(isinstance(span, str) for span in one) for one in spans):
        return Fault('overlap() takes spans such as "09:00-10:00"')
    found = [overlapping(mine, yours) for mine in spans[0] for other in spans[1:] for yours in other]
    return Fault('a span that is not like "09:00-10:00"') if None in found else True in found


def _shares(values: list[Any], folder: str) -> Any:
    """Whether two lists have a member in common."""
    listed = [list(value) if isinstance(value, str) else [] if value is ABSENT else value for value in values]
    listed = [_keys([value], folder) if isinstance(value, dict) else value for value in listed]
    if [] in listed and not any(isinstance(value, OpenList) and not value for value in listed):
        return False
    if any(value is UNKNOWN for value in listed):
        return UNKNOWN
    if not all(isinstance(value, list) for value in listed):
        may_be_empty = any(isinstance(value, OpenList) and not value for value in listed)
        return UNKNOWN if may_be_empty else Fault("shares() takes two lists")
    found = [contains(listed[1], member) for member in listed[0]]
    if True in found:
        return True
    return UNKNOWN if UNKNOWN in found or any(isinstance(value, OpenList) for value in listed) else False


def _keys(values: list[Any], folder: str) -> Any:
    value = values[0]
    if value is ABSENT or is_unseen(value):
        return [] if value is ABSENT else UNKNOWN
    if not isinstance(value, dict):
        return Fault(f"{kind_of(value)} has no keys")
    sure = [key for key, part in value.items() if exists(part) is True]
    unsure = any(exists(part) is UNKNOWN for part in value.values())
    return OpenList(sure) if unsure or isinstance(value, Open) else sure


def _values(values: list[Any], folder: str) -> Any:
    value = values[0]
    if not isinstance(value, dict):
        return (
            [] if value is ABSENT else value if isinstance(value, list) or value is UNKNOWN else _keys(values, folder)
        )
    keys = _keys(values, folder)
    if not isinstance(keys, list):
        return keys
    found = [value[key] for key in keys]
    return OpenList(found) if isinstance(keys, OpenList) else found


def _set(values: list[Any], folder: str) -> Any:
    value = values[0]
    listed = list(value) if isinstance(value, str) else _keys(values, folder) if isinstance(value, dict) else value
    if listed is UNKNOWN or listed is ABSENT or isinstance(listed, Fault):
        return Distinct() if listed is ABSENT else listed
    if not isinstance(listed, list):
        return Fault(f"{kind_of(value)} has no members")
    is_open = isinstance(listed, OpenList) or (len(listed) > 1 and is_partial(listed))
    made: list[Any] = OpenDistinct() if is_open else Distinct()
    for member in listed:
        if contains(made, member) is not True:
            made.append(member)
    return made


def _present(values: list[Any], folder: str) -> Any:
    """That a place is there, or is not: the value of an effect."""
    value = values[0]
    if value is True:
        return Open()
    if value is False or value is UNKNOWN:
        return ABSENT if value is False else UNKNOWN
    return UNKNOWN if isinstance(value, Open) else Fault("present() takes a yes or no")


def _inside(values: list[Any], folder: str) -> Any:
    """Whether a path lies in a folder, or is it; links are followed, relative paths are in the project."""
    if any(value is UNKNOWN or isinstance(value, Open) for value in values):
        return UNKNOWN
    if not all(isinstance(value, str) and value and "\0" not in value for value in values):
        return Fault("inside() takes two paths")
    try:
        path, root = (os.path.realpath(os.path.join(folder, value)) for value in values)
        return os.path.commonpath((path, root)) == root
    except (OSError, ValueError):
        return Fault("a path that cannot be resolved")


FUNCTIONS: dict[str, Function] = {
    "len": _len,
    "sum": _sum,
    "min": _extreme(False),
    "max": _extreme(True),
    "abs": _on_known(_abs),
    "number": _on_known(_number),
    "date": _on_known(_date),
    "time": _on_known(_time),
    "clock": _on_known(_clock),
    "weekday": _on_known(_weekday),
    "days": _on_known(_duration("days")),
    "minutes": _on_known(_duration("minutes")),
    "years": _on_known(_years),
    "lower": _on_known(_lower),
    "starts": _on_known(_starts),
    "overlap": _on_known(_overlap),
    "shares": _shares,
    "keys": _keys,
    "values": _values,
    "set": _set,
    "present": _present,
    "inside": _inside,
}
# What each function takes: at least and at most so many arguments.
ARITY: dict[str, tuple[int, int]] = {
    **dict.fromkeys(
        "all any sum len exists known present calls abs number keys values set date time clock weekday days minutes"
        " lower".split(),
        (1, 1),
    ),
    **dict.fromkeys(("years", "starts", "inside", "shares"), (2, 2)),
    "overlap": (2, 9),
    "min": (1, 9),
    "max": (1, 9),
}
