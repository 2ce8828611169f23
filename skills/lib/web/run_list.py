"""The runs of a project as a list that is kept in memory, and brought up to date by the ledger's events.

A page of ten thousand runs reads none of them again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from skills.lib.agent.watching.visibility import FULL, HIDDEN
from skills.lib.hosts.hook import sessions
from skills.lib.ledger import history, listing
from skills.lib.views.records import Records, about, iso, number_of, skill_of

if TYPE_CHECKING:
    from skills.lib.model.run import Run

# How many runs are on a page.
PAGE = 50
AGES = {"1h": 3_600.0, "24h": 86_400.0, "7d": 604_800.0, "30d": 2_592_000.0}
# How long what is known of hosts' sessions is not read again, in seconds, and how many events are read at once.
_FRESH, _AT_ONCE = 2.0, 1_000


@dataclass(slots=True)
class Row:
    """One run as the list has it.

    ``waits`` are the questions that it, and runs below it, ask a person, by run; ``not_done`` is how many things it
    had left undone when it ended.
    """

    id: str
    skill: str
    workflow: str
    status: str
    step: str
    number: int | None
    steps: int
    iteration: int
    turn: int
    about: str
    opened: float
    moved: float
    host: str = ""
    not_done: int = 0
    waits: dict[str, dict[str, Any]] = field(default_factory=dict)

    def data(self, level: str) -> dict[str, Any]:
        """The row for a program, as a reader of that level may see it."""
        shown = {
            "run": self.id,
            "skill": self.skill,
            "workflow": self.workflow,
            "status": "waiting" if self.waits else self.status,
            "opened": iso(self.opened),
            "moved": iso(self.moved),
            "opened_at": self.opened,
            "moved_at": self.moved,
            "host": self.host,
        }
        if level == HIDDEN:
            return {
                **shown,
                "step": "",
                "number": None,
                "steps": 0,
                "turn": 0,
                "iteration": 1,
                "about": "",
                "not_done": 0,
                "waits": {},
            }
        return {
            **shown,
            "step": self.step,
            "number": self.number,
            "steps": self.steps,
            "turn": self.turn,
            "iteration": self.iteration,
            "about": self.about if level == FULL else "",
            "not_done": self.not_done,
            "waits": {run: dict(asked) for run, asked in self.waits.items()},
        }


class RunList:
    """All runs that no other run started. ``ran_by_agent`` says whether Lockstep's own agent has driven a run."""

    def __init__(self, records: Records, ran_by_agent: Callable[[str], bool]) -> None:
        self._records = records
        self._ran_by_agent = ran_by_agent
        self._lock = threading.Lock()
        self._hosts: dict[str, str] = {}
        self._hosts_at = -_FRESH
        self._rows: dict[str, Row] = {}
        ledger = records.ledger
        self.cursor = history.last(ledger.database)
        times = listing.times(ledger)
        for run in ledger.each_run("parent IS NULL"):
            self._rows[run.id] = self._row(run, *times.get(run.id, (0.0, 0.0)))
        for run_id in listing.waiting(ledger):
            self._note_waiting(run_id)

    def refresh(self) -> list[tuple[str, int]]:
        """Read what happened since; the runs that it happened to, each with the number of its last event there."""
        with self._lock:
            ledger = self._records.ledger
            found: dict[str, int] = {}
            while events := ledger.events_after(self.cursor, _AT_ONCE):
                touched: dict[str, float] = {}
                for event in events:
                    root = event.run.partition(".")[0]
                    found[root] = event.seq
                    if event.kind != "refused":
                        touched[root] = event.at
                    self._touch_below(event.run, root)
                for root, at in touched.items():
                    self._reread(root, at)
                self.cursor = events[-1].seq
            if listing.count_roots(ledger, ended=True) != len(self._rows):
                known = {run for (run,) in ledger.database.rows("SELECT id FROM runs WHERE parent IS NULL")}
                for run in [run for run in self._rows if run not in known]:
                    del self._rows[run]
            return list(found.items())

    def _touch_below(self, run_id: str, root: str) -> None:
        """Note whether a sub-agent's run waits for a person now."""
        if run_id != root and root in self._rows:
            self._rows[root].waits.pop(run_id, None)
            self._note_waiting(run_id)

    def _reread(self, root: str, at: float) -> None:
        run = self._records.ledger.run(root)
        if run is None:
            self._rows.pop(root, None)
            return
        before = self._rows.get(root)
        made = self._row(run, before.opened if before else at, at)
        made.waits |= {child: asked for child, asked in (before.waits if before else {}).items() if child != root}
        self._rows[root] = made

    def _row(self, run: Run, opened: float, moved: float) -> Row:
        waits = {run.id: _asked(run)} if run.status == "waiting" and run.question else {}
        return Row(
            run.id,
            skill_of(run),
            run.workflow,
            run.status,
            run.step or "",
            number_of(run, self._records),
            len(self._records.steps(run)),
            run.iteration if run.step else 1,
            run.turn,
            about(run),
            opened,
            moved,
            self._host_of(run.id),
            len(run.not_done) if run.ended else 0,
            waits,
        )

    def _note_waiting(self, run_id: str) -> None:
        row = self._rows.get(run_id.partition(".")[0])
        run = self._records.ledger.run(run_id) if row is not None else None
        if row is not None and run is not None and run.status == "waiting" and run.question:
            row.waits[run_id] = _asked(run)

    def _host_of(self, run_id: str) -> str:
        """The host whose session follows a run; that of an earlier look if it has forgotten it."""
        if time.monotonic() - self._hosts_at > _FRESH:
            self._hosts_at = time.monotonic()
            self._hosts |= _hosts(self._records.project)
        before = self._rows.get(run_id)
        if run_id in self._hosts:
            return self._hosts[run_id]
        if before is not None and before.host:
            return before.host
        return "lockstep" if self._ran_by_agent(run_id) else ""

    def rows(self) -> list[Row]:
        """Every row, those that wait for a person first, then the last moved."""
        with self._lock:
            found = list(self._rows.values())
        return sorted(found, key=lambda row: (not row.waits, -row.moved))

    def row(self, run_id: str) -> Row | None:
        """The row of a run; None if there is none."""
        return self._rows.get(run_id)


def chosen(rows: Iterable[Row], wanted: Mapping[str, str], level: str) -> list[Row]:
    """The rows that a search and filters admit; a reader who sees nothing of a run finds it by its skill and id."""
    words = wanted.get("q", "").lower().split()
    since = time.time() - AGES[wanted["age"]] if wanted.get("age") in AGES else 0.0
    return [
        row
        for row in rows
        if wanted.get("skill", row.skill) in ("", row.skill, row.workflow)
        and _has_status(row, wanted.get("status", ""))
        and (not wanted.get("step") or (level != HIDDEN and wanted["step"] == row.step))
        and wanted.get("host", row.host) in ("", row.host)
        and row.moved >= since
        and all(word in _text(row, level) for word in words)
    ]


def _has_status(row: Row, wanted: str) -> bool:
    if wanted == "waiting":
        return bool(row.waits)
    return not wanted or wanted == row.status


def _text(row: Row, level: str) -> str:
    parts = [row.id, row.skill, row.workflow]
    if level == FULL:
        parts += [row.about, row.step, *(asked["text"] for asked in row.waits.values())]
    return " ".join(parts).lower()


def _asked(run: Run) -> dict[str, Any]:
    question = run.question or {}
    return {"text": str(question["text"]), "choices": [str(one) for one in question["choices"]], "step": run.step or ""}


def _hosts(project: str) -> dict[str, str]:
    """The host of each run that a session of a host follows."""
    found: dict[str, str] = {}
    for name in sessions.names():
        try:
            session = sessions.read(name)
        except (OSError, ValueError):
            continue
        for followed in (session or {}).get("runs", ()):
            if followed["project"] == project:
                found[followed["run"].partition(".")[0]] = sessions.host_of(name)
    return found
