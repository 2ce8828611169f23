"""What happens in a run and in the runs of its sub-agents, in order, from any place on: the ledger and the activities.

The place of an event is its cursor ``E.A``: the number of an event of the ledger and 0, or the ``after`` and the id of
an activity. Places are in order, and no event ever gets a place before one that a follower was given.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from skills.lib.agent.configuration.configured_keys import LEVELS
from skills.lib.agent.watching import wording
from skills.lib.agent.watching.activity import Row
from skills.lib.agent.watching.progress import Progress
from skills.lib.agent.watching.visibility import FULL, HIDDEN, SUMMARY
from skills.lib.agent.watching.wording import Counts
from skills.lib.clean_text import clean
from skills.lib.errors import UsageError
from skills.lib.ledger import history
from skills.lib.model.run import ENDED
from skills.lib.record import Record

if TYPE_CHECKING:
    from skills.lib.agent.watching.activity import Activity
    from skills.lib.ledger import Ledger

    Place = tuple[int, int]

BEGINNING = "0.0"
_CURSOR = re.compile(r"([0-9]{1,19})\.([0-9]{1,19})", re.ASCII)
_LARGEST = (1 << 63) - 1
# How many events, and how many activities, are read at once.
_PAGE = 500
# How often a waiting follower looks, in seconds.
_PAUSE = 0.2
# The type of what happens to the run that is followed; everything else is a message.
_TYPES = {
    "opened": "status",
    "asked": "status",
    "paused": "status",
    "unpaused": "status",
    "cancel": "status",
    "finished": "done",
    "abandoned": "done",
    "stopped": "error",
}


# What is said of a run at HIDDEN.
_BARE = {
    "opened": "Started.",
    "asked": "A person is asked.",
    "finished": "Ended.",
    "abandoned": "Given up.",
    "stopped": "Stopped.",
}


class Event(Record):
    """One thing that happened, in words and as data.

    ``step`` is the step of ``run``, the ``number`` of so many (``of``); ``progress`` is the share of the way, in per
    cent, of the run that is followed. ``visibility`` is the lowest level that shows it; ``data`` has all of it at
    FULL, and counts and questions at SUMMARY. ``at`` is seconds since the epoch. ``type`` is ``status``, ``message``,
    ``done`` or ``error`` (with a ``code``), for programs that show no more than that. The event of a milestone has its
    number in ``data``, and in ``details`` the cursors between which its calls are.
    """

    cursor: str
    run: str
    kind: str
    step: str
    number: int
    of: int
    progress: int
    text: str
    data: dict[str, Any]
    at: float
    visibility: str
    type: str
    code: str = ""


def place_of(cursor: str) -> Place:
    """The place that a cursor names. Raises UsageError for a text that is none."""
    found = _CURSOR.fullmatch(cursor) if isinstance(cursor, str) else None
    place = (int(found[1]), int(found[2])) if found else (-1, -1)
    if not 0 <= min(place) <= max(place) <= _LARGEST:
        raise UsageError(f"{cursor!r:.60} is no cursor", valid=f"the cursor of an event, or {BEGINNING} for all")
    return place


def follow(
    ledger: Ledger,
    activity: Activity,
    runs: str | Collection[str],
    after: str = BEGINNING,
    level: str = SUMMARY,
    wait: bool = False,
    until: str = "",
) -> Iterator[Event]:
    """What happened in these runs and in their sub-agents' runs after a cursor, in order.

    With ``wait`` it goes on until all of these runs have ended, with ``until`` up to that cursor. Raises UsageError for
    what is no cursor, no level (FULL, SUMMARY, HIDDEN) or no run.
    """
    place, last = place_of(after), place_of(until) if until else (_LARGEST, _LARGEST)
    if level not in LEVELS:
        raise UsageError(f"{level!r:.60} is no level of events", valid=", ".join(LEVELS))
    roots = [runs] if isinstance(runs, str) else list(runs)
    for run in roots:
        if not ledger.has(run):
            raise UsageError(f"the ledger {ledger.path} has no run {run!r:.80}", remedy="lockstep runs --all")
    follower = _Follower(ledger, activity, roots, level)
    return itertools.takewhile(lambda event: place_of(event.cursor) <= last, follower.events(place, wait))


class _Follower:
    """Follows some runs from a place on."""

    def __init__(self, ledger: Ledger, activity: Activity, roots: list[str], level: str) -> None:
        self._ledger, self._activity, self._roots = ledger, activity, roots
        self._full, self._bare = level == FULL, level == HIDDEN
        self._progress: dict[str, Progress] = {}

    def events(self, place: Place, wait: bool) -> Iterator[Event]:
        """The events after a place."""
        firsts = [next((event.seq for event in self._ledger.each_event(run)), 1) for run in self._roots]
        first = min(firsts, default=1)
        while True:
            is_over = not wait or self._is_over()
            page, more = self._page(place, first)
            for place, one in page:
                event = self._of_event(place, one) if isinstance(one, history.Event) else self._of_row(place, one)
                if event and self._bare:
                    event = _bare(event) if event.run in self._roots else None
                if event:
                    yield event
            if is_over and not more:
                return
            if not more:
                time.sleep(_PAUSE)

    def _is_over(self) -> bool:
        """True if none of the runs goes on; one that was removed does not."""
        found = [self._ledger.run(run) for run in self._roots]
        return all(run is None or run.ended for run in found)

    def _page(self, place: Place, first: int) -> tuple[list[tuple[Place, history.Event | Row]], bool]:
        """What comes next after a place, in order, and whether there may be more."""
        read = self._ledger.events_after(max(place[0], first - 1), _PAGE)
        last = max(place[0], read[-1].seq if read else 0)
        rows = self._activity.settled(self._roots, place, last, _PAGE)
        merged: list[tuple[Place, history.Event | Row]] = [((event.seq, 0), event) for event in read]
        merged += [((row.after, row.id), row) for row in rows]
        merged.sort(key=lambda one: one[0])
        if len(rows) == _PAGE:  # what comes after the last row waits for the rows that were not read
            merged = [one for one in merged if one[0] <= (rows[-1].after, rows[-1].id)]
        return merged, max(len(read), len(rows)) == _PAGE

    def _root_of(self, run: str) -> str | None:
        """The run that is followed and that a run is, or is below."""
        return next((root for root in self._roots if run == root or run.startswith(f"{root}.")), None)

    def _progress_of(self, run: str, place: Place) -> Progress:
        """How far a run is; one that is new here was followed by nobody before that place."""
        if run not in self._progress:
            progress = self._progress[run] = Progress(self._steps)
            todos = self._activity.rows(run, kind="call", holding='"tool":"todowrite"')
            past: list[tuple[Place, history.Event | Row]] = [((row.after, row.id), row) for row in todos]
            past += [((event.seq, 0), event) for event in self._ledger.each_event(run)]
            for at, one in sorted(past, key=lambda one: one[0]):
                if at >= place:
                    break
                if isinstance(one, history.Event):
                    progress.take(one)
                else:
                    progress.take_row(one)
        return self._progress[run]

    def _steps(self, fingerprint: str) -> list[tuple[str, str]]:
        steps = self._ledger.definition(fingerprint).get("steps", ())
        return [(str(step.get("id", "")), str(step.get("title") or "")) for step in steps]

    def _of_event(self, place: Place, event: history.Event) -> Event | None:
        root = self._root_of(event.run)
        if root is None:
            return None
        whole = self._progress_of(root, place)
        progress = self._progress_of(event.run, place)
        left, turn = progress.step, progress.turn
        progress.take(event)
        shown = wording.is_in_summary(event.kind, event.run != root)
        if not (shown or self._full):
            return None
        counts = Counts(())
        if event.kind in ("moved", "asked", "finished"):
            rows = self._activity.rows(event.run, turn=turn)
            counts = Counts([row for row in rows if (row.after, row.id) < place])
        if event.run == root:
            text = wording.of_event(event, left, progress, counts, self._full)
        else:
            text = wording.of_event_below(event, left, progress, counts, self._full)
        if event.kind == "finished" and event.run != root:
            text += self._siblings(event)
        data = dict(event.detail) if self._full else {"counts": counts.data()} if counts.words() else {}
        question = event.change.get("question")
        data |= {"question": question} if question else {}
        data |= {"undone": True} if wording.is_undone(left, progress, event) else {}
        if event.run == root and whole.since == place:
            data |= _details(whole)
        number = progress.number or progress.number_of(left)
        return Event(
            _cursor(place),
            event.run,
            event.kind,
            progress.step or left,
            number,
            progress.of,
            whole.percent,
            clean(_said_by(event.run, root) + text),
            data,
            event.at,
            SUMMARY if shown else FULL,
            _type(event.kind, event.run == root),
        )

    def _of_row(self, place: Place, row: Row) -> Event | None:
        root = self._root_of(row.run)
        if root is None or not wording.is_shown(row.kind):
            return None
        whole = self._progress_of(root, place)
        progress = self._progress_of(row.run, place)
        completed = progress.take_row(row) if row.run == root else []
        shown = bool(completed) or wording.is_in_summary(row.kind, row.run != root, row.visibility)
        if not (shown or self._full):
            return None
        number = 0
        if row.kind in ("model", "sent-back"):
            number = self._activity.count(row.run, turn=row.turn, kind=row.kind, until=row.id)
        step = progress.at_turn(row.turn)
        text = wording.of_row(row, number, self._full)
        if completed and not self._full:
            text = wording.of_todos(completed, progress.todos)
        return Event(
            _cursor(place),
            row.run,
            "milestone" if completed and not self._full else row.kind,
            step,
            progress.number_of(step),
            progress.of,
            whole.percent,
            clean(_said_by(row.run, root) + text),
            (wording.data_of(row) if self._full else {}) | (_details(whole) if completed else {}),
            row.at,
            SUMMARY if shown else FULL,
            _type(row.kind, row.run == root),
            str(row.data.get("code", "STOPPED")) if row.kind == "stopped" else "",
        )

    def _siblings(self, event: history.Event) -> str:
        """How many of the sub-agents of the present step have ended."""
        parent, _, _ = event.run.rpartition(".")
        place = (event.seq, 0)
        children = self._progress_of(parent, place).children
        ended = sum(self._progress_of(child, place).status in ENDED for child in children)
        return f" {ended} of {len(children)} sub-agents have ended." if children else ""


def _cursor(place: Place) -> str:
    return f"{place[0]}.{place[1]}"


def _details(progress: Progress) -> dict[str, Any]:
    """Of a milestone its number, and the cursors between which what led to it happened."""
    details = {"after": _cursor(progress.before), "until": _cursor(progress.since)}
    return {"milestone": progress.milestones, "details": details}


def _bare(event: Event) -> Event | None:
    """What somebody sees of an event who sees nothing of the run but that it goes on; None for most."""
    if event.kind not in _BARE:
        return None
    fields: dict[str, Any] = {**event.fields(), "text": _BARE[event.kind], "data": {}, "step": ""}
    return Event(**fields)


def _said_by(run: str, root: str) -> str:
    return f"Sub-agent {run[len(root) + 1 :]}: " if run != root else ""


def _type(kind: str, of_root: bool) -> str:
    return _TYPES.get(kind, "message") if of_root else "message"
