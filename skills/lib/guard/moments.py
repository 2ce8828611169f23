"""Dates, times of day and durations, read from ISO and written-out texts."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import date, datetime, time, timedelta
    from typing import Any
else:
    try:  # the C module alone: the public one costs a millisecond
        from _datetime import date, datetime, time, timedelta
    except ImportError:
        from datetime import date, datetime, time, timedelta

_MONTHS = "january february march april may june july august september october november december".split()
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()


def to_date(value: Any) -> date | None:
    """The calendar day of a moment or a text; None if the text is no date."""
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    moment = _moment(value) if isinstance(value, str) else None
    return moment.date() if moment else None


def to_time(value: Any) -> datetime | time | None:
    """The moment of a date or a text, a date alone at midnight, or a time of day; None if the text is none.

    A moment with a zone is given in UTC.
    """
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    if isinstance(value, time):
        return value
    return (_clock(value) or _moment(value)) if isinstance(value, str) else None


def to_clock(value: Any) -> time | None:
    """The time of day of a moment or of a text such as ``09:30``, ``9 pm`` or an ISO date with a time."""
    if isinstance(value, datetime):
        return value.time()
    if isinstance(value, time):
        return value
    if not isinstance(value, str):
        return None
    clock = _clock(value)
    if clock is None:
        moment = _moment(value)
        return moment.time() if moment else None
    return clock


def years_between(first: date, second: date) -> int:
    """The whole years from the earlier of two days to the later one."""
    first, second = min(first, second), max(first, second)
    return second.year - first.year - ((second.month, second.day) < (first.month, first.day))


def duration(number: float, unit: str) -> timedelta:
    """So many days or minutes. Raises OverflowError for more than a duration can hold."""
    return timedelta(days=number) if unit == "days" else timedelta(minutes=number)


def aligned(left: Any, right: Any) -> tuple[Any, Any] | None:
    """Two moments made comparable: a text is read as the other is; None if they are of different kinds."""
    if isinstance(left, str) or isinstance(right, str):
        text, other = (left, right) if isinstance(left, str) else (right, left)
        read = to_clock if isinstance(other, time) else to_time if isinstance(other, date) else None
        found = read(text) if read else None
        if found is None:
            return None
        return aligned(found, other) if isinstance(left, str) else aligned(other, found)
    if isinstance(left, date) and isinstance(right, date):
        return to_time(left), to_time(right)
    if isinstance(left, datetime) and isinstance(right, time):
        return left.time(), right
    if isinstance(left, time) and isinstance(right, datetime):
        return left, right.time()
    return (left, right) if type(left) is type(right) else None


def added(left: Any, right: Any, sign: int) -> Any:
    """The sum or difference of moments and durations; None if it has none. Raises OverflowError."""
    if isinstance(left, timedelta) and isinstance(right, timedelta):
        return left + right * sign
    if isinstance(left, date) and isinstance(right, timedelta):
        is_exact = right.seconds or right.microseconds
        start = datetime(left.year, left.month, left.day) if is_exact and not isinstance(left, datetime) else left
        return start + right * sign
    if isinstance(left, timedelta) and isinstance(right, date) and sign > 0:
        return added(right, left, sign)
    if isinstance(left, date) and isinstance(right, date) and sign < 0:
        return to_time(left) - to_time(right)  # type: ignore[operator]
    if isinstance(left, time) and isinstance(right, time) and sign < 0:
        return _since_midnight(left) - _since_midnight(right)
    if isinstance(left, time) and isinstance(right, timedelta):
        total = _since_midnight(left) + right * sign
        return (datetime(2000, 1, 1) + total).time() if timedelta(0) <= total < timedelta(days=1) else None
    return None


def overlapping(left: str, right: str) -> bool | None:
    """Whether two spans such as ``09:00-10:00`` share a minute; None if one is no span."""
    first, second = _span(left), _span(right)
    return first[0] < second[1] and second[0] < first[1] if first and second else None


def _span(text: str) -> tuple[time, time] | None:
    for dash in ("\u2013", "\u2014", " to "):
        text = text.replace(dash, "-")
    begin, _, end = text.partition("-")
    first, last = _clock(begin), _clock(end)
    return (first, last) if first and last else None


def _since_midnight(clock: time) -> timedelta:
    return timedelta(hours=clock.hour, minutes=clock.minute, seconds=clock.second, microseconds=clock.microsecond)


def _clock(text: str) -> time | None:
    """The time of a text that holds nothing but a time of day."""
    text = text.strip().lower().replace(".", "") if text.strip()[-1:] in (".", "m", "M") else text.strip().lower()
    half = text[-2:] if text.endswith(("am", "pm")) else ""
    parts = text.removesuffix(half).strip().split(":")
    if not all(part.isascii() and part.isdigit() and len(part) <= 2 for part in parts) or len(parts) > 3:
        return None
    if len(parts) == 1 and not half:
        return None
    hour, minute, second = (*map(int, parts), 0, 0)[:3]
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "pm" else 0)
    return time(hour, minute, second) if hour < 24 and minute < 60 and second < 60 else None


def _moment(text: str) -> datetime | None:
    """The moment of an ISO or a written-out text; None if it is neither."""
    text = text.strip()
    if len(text) > 60 or not text.isascii():
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return _in_numbers(text) or _written_out(text)
    if len(text) < 10 or text[4] != "-":  # 20241012 and 2024-W41 are too easily something else
        return None
    return found.replace(tzinfo=None) - (found.utcoffset() or timedelta(0))


def _in_numbers(text: str) -> datetime | None:
    """The day of ``2024-1-5`` or ``2024/01/05``."""
    parts = text.replace("/", "-").split("-")
    if len(parts) != 3 or not all(part.isdigit() for part in parts) or len(parts[0]) != 4:
        return None
    try:
        return datetime(int(parts[0]), int(parts[1]), int(parts[2]))
    except ValueError:
        return None


def _written_out(text: str) -> datetime | None:
    """The moment of ``October 12, 2024``, ``12 Oct 2024``, ``Saturday, October 12th, 2024 at 3:30 pm``."""
    day = month = year = 0
    clock: list[str] = []
    for word in text.lower().replace(",", " ").split():
        number = word[:-2] if word[-2:] in ("st", "nd", "rd", "th") and word[:-2].isdigit() else word
        name = word.rstrip(".")
        if len(name) >= 3 and any(one.startswith(name) for one in _MONTHS) and not month:
            month = next(at for at, one in enumerate(_MONTHS, 1) if one.startswith(name))
        elif number.isdigit() and len(number) == 4 and not year:
            year = int(number)
        elif number.isdigit() and len(number) <= 2 and not day:
            day = int(number)
        elif ":" in word or name in ("am", "pm") or word[-2:] in ("am", "pm"):
            clock.append(word)
        elif name not in ("at", "of", "the") and not (len(name) >= 3 and any(one.startswith(name) for one in _DAYS)):
            return None
    at = _clock(" ".join(clock)) if clock else time(0)
    if not (day and month and year) or at is None:
        return None
    try:
        return datetime(year, month, day, at.hour, at.minute, at.second)
    except ValueError:
        return None
