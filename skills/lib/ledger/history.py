"""The events of a ledger: what happened to its runs, in order."""

from __future__ import annotations

from skills.lib.compact_json import digest, load_object
from skills.lib.errors import UsageError
from skills.lib.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from skills.lib.ledger.store import Store

_EVENTS = "SELECT seq, run, turn, kind, actor, at, detail, change, sum FROM events"


class Event(Record):
    """One row of the record; ``at`` is seconds since the epoch, for people only: ``seq`` is the order."""

    seq: int
    run: str
    turn: int
    kind: str
    actor: str
    at: float
    detail: dict[str, Any]
    change: dict[str, Any]


def each(database: Store, run_id: str | None = None) -> Iterator[Event]:
    """The events of a run (of all runs without an id) one at a time, their chain checked."""
    where, values = ("WHERE run=?", (run_id,)) if run_id is not None else ("", ())
    return _checked(database, database.each(f"{_EVENTS} {where} ORDER BY seq", values), {})


def after(database: Store, cursor: int, limit: int) -> list[Event]:
    """At most so many events of all runs whose number is higher than ``cursor``, in order, their chains checked.

    Raises UsageError for a number below 0.
    """
    for name, value in (("cursor", cursor), ("limit", limit)):
        if type(value) is not int or not 0 <= value < 1 << 63:
            raise UsageError(f"{name} is {value!r:.80}", valid="a whole number of 0 or more")
    before = "SELECT sum FROM events WHERE run=? AND seq<=? ORDER BY seq DESC LIMIT 1"
    with database.reading():
        rows = database.rows(f"{_EVENTS} WHERE seq>? ORDER BY seq LIMIT ?", (cursor, limit))
        tips = {run_id: database.rows(before, (run_id, cursor)) for run_id in {row[1] for row in rows}}
    return list(_checked(database, rows, {run_id: found[0][0] for run_id, found in tips.items() if found}))


def last(database: Store) -> int:
    """The number of the last event of all runs; 0 if there is none."""
    [(number,)] = database.rows("SELECT coalesce(max(seq), 0) FROM events")
    return int(number)


def _checked(database: Store, rows: Iterable[Any], tips: dict[str, str]) -> Iterator[Event]:
    """The events in rows; ``tips`` holds the checksum of the event before them, by run."""
    for *fields, total in rows:
        seq, run, turn, kind, actor, at, detail, change = fields
        try:
            if total == digest([tips.get(run, ""), *fields[1:]]):
                event = Event(seq, run, turn, kind, actor, at, load_object(detail), load_object(change))
                tips[run] = total
                yield event
                continue
        except (TypeError, ValueError):  # the sums of anybody's ledger may be right
            pass
        raise database.broken(f"is damaged: event {seq} of run {run} has a wrong checksum or field")
