"""What the ledger says of the runs of a fleet: which were submitted, and which wait for a person to submit them again.

A submission is an event of its run, so it is there whatever becomes of the queue, and on every machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skills.lib import compact_json
from skills.lib.errors import RefusedError
from skills.lib.ledger import Ledger
from skills.lib.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from skills.lib.model.run import Run

SUBMITTED, PARKED = "submitted", "parked"
# What an event keeps of the worktree that a transition was committed with.
WORKTREE = "worktree"
FIRST, LAST = 1, 1_000_000
_EVENTS = (
    "SELECT e.run, e.kind, e.at, e.detail, r.workflow, r.status FROM events e JOIN runs r ON r.id=e.run "
    "WHERE r.parent IS NULL AND e.kind IN ('submitted','parked')"
)
_OPEN, _ONE, _ORDER = " AND r.status IN ('open','waiting')", " AND e.run=?", " ORDER BY e.seq"
_DETAILS = "SELECT seq, detail FROM events WHERE run=? AND seq>? ORDER BY seq DESC"


class Submission(Record):
    """A run that was submitted.

    ``status`` is that of the run. ``reason`` says why no worker goes on with it until somebody submits it again; "" if
    workers do. ``at`` is when that was, in seconds since the epoch. ``task`` is what it is for, in words.
    """

    run: str
    workflow: str
    user: str
    priority: int
    status: str
    task: str = ""
    reason: str = ""
    at: float = 0.0

    @property
    def is_for_workers(self) -> bool:
        """True if workers follow the run, now or later, until it ends or is parked."""
        return self.status in ("open", "waiting") and not self.reason


def each(ledger: Ledger, ended: bool = False) -> list[Submission]:
    """The runs that were submitted, in this order; those that have ended, too, if they are wanted."""
    return _read(ledger.database.rows(f"{_EVENTS}{'' if ended else _OPEN}{_ORDER}"))


def of(ledger: Ledger, run: str) -> Submission | None:
    """The submission of a run, or of the run that it is a sub-agent's of; None if it was not submitted."""
    return next(iter(_read(ledger.database.rows(f"{_EVENTS}{_ONE}{_ORDER}", (run.partition(".")[0],)))), None)


def require_none(home: str, run: str) -> None:
    """Raise RefusedError if workers follow the run, now or later: no other session does meanwhile."""
    with Ledger(home, create=False) as ledger:
        found = of(ledger, run)
    if found is not None and found.is_for_workers:
        raise RefusedError(
            f"run {found.run} is submitted: workers follow it, in a worktree of its own",
            remedy=f"look on: lockstep agent status; or have them leave it alone: lockstep agent cancel {found.run}",
        )


def _read(rows: Iterable[Any]) -> list[Submission]:
    found: dict[str, Submission] = {}
    for run, kind, at, detail, workflow, status in rows:
        data = compact_json.load_object(detail)
        if kind == SUBMITTED:
            user, priority, task = str(data["user"]), int(data["priority"]), str(data["task"])
            found[run] = Submission(run, workflow, user, priority, status, task, at=at)
        elif run in found:
            known = found[run]
            about = (known.workflow, known.user, known.priority, known.status, known.task)
            found[run] = Submission(run, *about, str(data["reason"]), at)
    return list(found.values())


def note(ledger: Ledger, run: Run, detail: Mapping[str, Any], actor: str) -> None:
    """Record that a run was submitted."""
    ledger.note(run.id, run.turn, SUBMITTED, actor, dict(detail))


def park(ledger: Ledger, run: Run, reason: str, actor: str, who: str) -> None:
    """Record that a run waits until somebody submits it again; nothing if it does already."""
    found = of(ledger, run.id)
    if found is not None and not found.reason:
        ledger.note(run.id, run.turn, PARKED, actor, {"reason": reason[:2_000], "who": who})


def worktree(ledger: Ledger, run: str) -> str:
    """The commit of the worktree at the last transition of a run or its sub-agents'; "" if there is none."""
    latest, commit = 0, ""
    for one in _family(ledger, run):
        for seq, detail in ledger.database.rows(_DETAILS, (one, latest)):
            found = compact_json.load_object(detail).get(WORKTREE)
            if isinstance(found, str):
                latest, commit = seq, found
                break
    return commit


def _family(ledger: Ledger, run: str) -> Iterator[str]:
    """The run and the runs of its sub-agents, at any depth."""
    yield run
    present = ledger.run(run)
    for child in present.children if present is not None else ():
        yield from _family(ledger, child)
