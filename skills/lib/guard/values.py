"""The values of expressions: JSON values, what is not known, what is known not to be there, and faults."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Marker:
    """A value that is no JSON value."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


# Nothing is known of the place: it may hold any value, or not be there.
UNKNOWN = Marker("UNKNOWN")
# The place is known not to be there.
ABSENT = Marker("ABSENT")


class Fault:
    """What an expression over known values gives that has no value: FALSE with a reason, under ``not`` too."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __repr__(self) -> str:
        return f"FAULT ({self.reason})"


class Failing(Fault):
    """FALSE or a Fault: which of the two depends on what is not known. A need that is so is FALSE."""

    __slots__ = ()


class Open(dict):  # type: ignore[type-arg]
    """A place that is there and of which only some keys are known; without a key it may hold any value."""

    __slots__ = ()


class Maybe(Open):
    """A place of which some keys are known, and which is there only if one of them is."""

    __slots__ = ()


class OpenList(list):  # type: ignore[type-arg]
    """Members of which there may be more."""

    __slots__ = ()


class Distinct(list):  # type: ignore[type-arg]
    """What ``set`` gives: members without repeats, whose order means nothing."""

    __slots__ = ()


class OpenDistinct(OpenList):
    """A set of which there may be more members, or fewer: two that are not known may turn out to be equal."""

    __slots__ = ()


class Weekday(int):
    """A day of the week: equal to its number (Monday is 0) and to its English name."""

    NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

    def is_named(self, text: str) -> bool:
        """True if the text is the day's English name, or its first three letters."""
        name, folded = self.NAMES[self], text.strip().lower()
        return folded in (name, name[:3])


def is_number(value: Any) -> bool:
    """True for a number; true and false are none."""
    return type(value) is int or type(value) is float


def is_moment(value: Any) -> bool:
    """True for what ``date``, ``time``, ``clock``, ``days`` and ``minutes`` give."""
    return type(value).__module__ in ("datetime", "_datetime")


def kind_of(value: Any) -> str:
    """What a value is, in the words of a reason."""
    if value is None:
        return "null"
    if value is ABSENT:
        return "not there"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, dict):
        return "a map"
    if isinstance(value, list):
        return "a list"
    if is_moment(value):
        return {"timedelta": "a duration", "time": "a time of day"}.get(type(value).__name__, "a date")
    return "a number"


def shown(value: Any) -> str:
    """A value as a reason names it: JSON, cut if it is long."""
    if isinstance(value, Fault):
        return "no value"
    if value is UNKNOWN or value is ABSENT:
        return "not known" if value is UNKNOWN else "not there"
    if isinstance(value, Weekday):
        return value.NAMES[value]
    if is_moment(value):
        return str(value)
    from skills.lib.compact_json import readable  # a reason is made for a call that is not allowed

    try:
        text = readable(value)
    except (TypeError, ValueError):
        text = kind_of(value)
    return text if len(text) <= 60 else text[:57] + "..."


def same(left: Any, right: Any) -> Any:
    """True, False or UNKNOWN: whether two values are equal. ``1``, ``true``, ``"1"`` differ; ``1`` equals ``1.0``."""
    if left is UNKNOWN or right is UNKNOWN:
        return False if left is ABSENT or right is ABSENT else UNKNOWN
    if left is ABSENT or right is ABSENT:
        return False
    kind, other = type(left), type(right)
    if kind is other and kind in (str, int, bool, float):
        return left == right
    if isinstance(left, dict) and isinstance(right, dict):
        return _same_maps(left, right)
    if isinstance(left, Open) or isinstance(right, Open):
        return False if exists_inside(left if isinstance(left, Open) else right) else UNKNOWN
    if isinstance(left, list) and isinstance(right, list):
        return _same_lists(left, right)
    if kind is Weekday or other is Weekday:
        day, name = (left, right) if kind is Weekday else (right, left)
        return day.is_named(name) if isinstance(name, str) else is_number(int(day)) and same(int(day), _plain(name))
    if is_number(left) and is_number(right):
        return bool(left == right)
    if is_moment(left) or is_moment(right):
        return _same_moments(left, right)
    return left is None and right is None


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, Weekday) else value


def exists_inside(value: Open) -> bool:
    """True if a key of an open place is known to be there: then the place is a map."""
    return any(exists(part) is True for part in value.values())


def is_unseen(value: Any) -> bool:
    """True for what may be any single value: UNKNOWN, or an open place of which no key is known to be there."""
    return value is UNKNOWN or (isinstance(value, Open) and not exists_inside(value))


def exists(value: Any) -> Any:
    """True, False or UNKNOWN: whether a place with this value is there."""
    if value is UNKNOWN or value is ABSENT:
        return UNKNOWN if value is UNKNOWN else False
    return exists_inside(value) or UNKNOWN if isinstance(value, Maybe) else True


def _same_maps(left: dict[str, Any], right: dict[str, Any]) -> Any:
    result: Any = True
    for key in left.keys() | right.keys():
        mine, yours = child(left, key), child(right, key)
        if mine is ABSENT or yours is ABSENT:
            there = exists(yours if mine is ABSENT else mine)
            equal: Any = UNKNOWN if there is UNKNOWN else not there
        else:
            equal = same(mine, yours)
        if equal is False:
            return False
        if equal is UNKNOWN:
            result = UNKNOWN
    return UNKNOWN if isinstance(left, Open) or isinstance(right, Open) else result


def _same_lists(left: list[Any], right: list[Any]) -> Any:
    if isinstance(left, (Distinct, OpenDistinct)) and isinstance(right, (Distinct, OpenDistinct)):
        return same_members(left, right)
    if isinstance(left, OpenList) or isinstance(right, OpenList):
        return UNKNOWN
    if len(left) != len(right):
        return False
    found = [same(mine, yours) for mine, yours in zip(left, right, strict=True)]
    return False if False in found else UNKNOWN if UNKNOWN in found else True


def same_members(left: list[Any], right: list[Any]) -> Any:
    """Whether two sets have the same members."""
    found = [contains(right, member) for member in left] + [contains(left, member) for member in right]
    is_open = isinstance(left, OpenList) or isinstance(right, OpenList)
    return False if False in found else UNKNOWN if is_open or UNKNOWN in found else True


def _same_moments(left: Any, right: Any) -> Any:
    from skills.lib.guard.moments import aligned

    pair = aligned(left, right)
    return bool(pair[0] == pair[1]) if pair else False


def contains(members: list[Any], value: Any) -> Any:
    """True, False or UNKNOWN: whether a list has a member equal to the value; an empty list has none."""
    result: Any = UNKNOWN if isinstance(members, OpenList) else False
    for member in members:
        equal = same(member, value)
        if equal is True:
            return True
        if equal is UNKNOWN:
            result = UNKNOWN
    return result


def child(value: Any, key: Any) -> Any:
    """What is inside a value at a key: UNKNOWN or ABSENT if it is not known, or known not to be there."""
    if isinstance(value, dict):
        return value.get(str(key), UNKNOWN if isinstance(value, Open) else ABSENT)
    if isinstance(value, list) and isinstance(key, int):
        if isinstance(value, OpenList):
            return UNKNOWN  # there may be more members before it, too
        return value[key] if -len(value) <= key < len(value) else ABSENT
    return UNKNOWN if value is UNKNOWN else ABSENT


def is_partial(value: Any) -> bool:
    """True if something of the value is not known."""
    if value is UNKNOWN or isinstance(value, (Open, OpenList)):
        return True
    if isinstance(value, dict):
        return any(map(is_partial, value.values()))
    return isinstance(value, list) and any(map(is_partial, value))
