"""Which runs a ledger has, how many, and when they moved: what subcommands and refusals ask, and no other step.

Each question reads only what it needs, row by row. The runs are checked; the times and numbers of events are not.
"""

from __future__ import annotations

from skills.lib import compact_json, status_files
from skills.lib.ledger.ledger import OPEN
from skills.lib.model.run import MOST_CHILDREN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from skills.lib.ledger.ledger import Ledger
    from skills.lib.model.run import Run

_IDS, _COUNT, _AT = "SELECT id FROM runs WHERE", "SELECT count(*) FROM runs WHERE", "SELECT at FROM events WHERE"
_WORKFLOWS, _UNENDED = "SELECT workflow FROM runs WHERE", "status IN ('open','waiting','pending')"
_TRANSITIONS = "SELECT count(*) FROM events WHERE run=? AND kind IN ('moved','finished','asked')"
_TIMES = "SELECT run, min(at), max(at) FROM events WHERE kind<>'refused' GROUP BY run"
_REFUSALS = "SELECT detail FROM events WHERE run=? AND kind='refused' AND substr(actor,1,6)<>'person' ORDER BY seq"


def count(ledger: Ledger) -> int:
    """How many runs there are, those of sub-agents included."""
    return _number(ledger, "1=1")


def count_roots(ledger: Ledger, ended: bool = False) -> int:
    """How many runs are open that no other run started; with ``ended`` how many there are."""
    return _number(ledger, "parent IS NULL" if ended else OPEN)


def roots(ledger: Ledger, ended: bool = False) -> Iterator[Run]:
    """The open runs that no other run started, the last opened first; with ``ended`` those that ended too."""
    opened = "(SELECT min(seq) FROM events WHERE events.run=runs.id)"
    where = "parent IS NULL" if ended else OPEN
    for (run_id,) in ledger.database.each(f"{_IDS} {where} ORDER BY {opened} DESC"):
        run = ledger.run(run_id)
        if run is not None:  # it was not removed meanwhile
            yield run


def unended_workflows(ledger: Ledger) -> list[str]:
    """The workflow of each run that has not ended, those of sub-agents included; the runs are not checked."""
    return [workflow for (workflow,) in ledger.database.rows(f"{_WORKFLOWS} {_UNENDED}")]


def unended(ledger: Ledger) -> Iterator[Run]:
    """The runs that have not ended, those of sub-agents included."""
    return ledger.each_run(_UNENDED)


def waiting(ledger: Ledger) -> list[str]:
    """The ids of the runs that wait for a person, sub-agents' too, the one that waits longest first."""
    asked = "(SELECT max(seq) FROM events WHERE events.run=runs.id AND kind<>'refused')"
    return [run_id for (run_id,) in ledger.database.rows(f"{_IDS} status='waiting' ORDER BY {asked}")]


def sub_agents(ledger: Ledger) -> list[str]:
    """The ids of the runs of all sub-agents that have not ended."""
    rows = ledger.database.rows(f"{_IDS} {_UNENDED} AND parent IS NOT NULL")
    return [run_id for (run_id,) in rows]


def last_moved(ledger: Ledger, limit: int, workflow: str | None = None) -> list[Run]:
    """So many of the open runs (of a workflow) that no parent started, the last moved first; refusals move none."""
    where, values = (f"{OPEN} AND workflow=?", (workflow,)) if workflow is not None else (OPEN, ())
    last = "(SELECT seq FROM events WHERE events.run=runs.id AND kind<>'refused' ORDER BY seq DESC LIMIT 1)"
    ids = ledger.database.rows(f"{_IDS} {where} ORDER BY {last} DESC LIMIT ?", (*values, limit))
    found = [ledger.run(run_id) for (run_id,) in ids]
    return [run for run in found if run is not None]


def last_ended(ledger: Ledger, admits: Callable[[Run], bool]) -> Run | None:
    """The run with the last event of those that no other run started and that are admitted; None if there is none."""
    seen: set[str] = set()
    for (run_id,) in ledger.database.each("SELECT run FROM events ORDER BY seq DESC"):
        if run_id in seen:
            continue
        seen.add(run_id)
        if not isinstance(run_id, str) or not status_files.is_id(run_id):
            raise ledger.database.broken("is damaged: an event is of no run")
        run = ledger.run(run_id)
        if run is not None and run.parent is None and admits(run):
            return run
    return None


def children(ledger: Ledger, parent: str) -> list[Run]:
    """The runs that a run started, replaced and ended ones included, in the order of their numbers."""
    found = ledger.children(parent, MOST_CHILDREN + 1)
    if len(found) > MOST_CHILDREN:
        raise ledger.database.broken(f"is damaged: run {parent} has more sub-agents than a run can have")
    return sorted(found, key=lambda run: int(run.id.rpartition(".")[2]))


def ids(ledger: Ledger, prefix: str, limit: int) -> list[str]:
    """So many ids of runs that begin with a text, in order."""
    rows = ledger.database.rows(f"{_IDS} id>=? AND id<? ORDER BY id LIMIT ?", (prefix, prefix + "~", limit))
    return [run_id for (run_id,) in rows]


def opened_at(ledger: Ledger, run_id: str) -> float:
    """When a run opened, seconds since the epoch; 0 if it has no event."""
    return _latest(ledger, ledger.database.rows(f"{_AT} run=? ORDER BY seq LIMIT 1", (run_id,)))


def moved_at(ledger: Ledger, run_id: str) -> float:
    """When a run, or one below it, last moved; refusals do not count. 0 if none has an event."""
    last = "SELECT max(at) FROM events WHERE {} AND kind<>'refused'"
    own = ledger.database.rows(last.format("run=?"), (run_id,))
    below = ledger.database.rows(last.format("run>=? AND run<?"), (f"{run_id}.", f"{run_id}/"))  # . comes before /
    return _latest(ledger, [*own, *below])


def times(ledger: Ledger) -> dict[str, tuple[float, float]]:
    """When each run that no other started opened, and when it or one below it last moved; refusals do not count."""
    found: dict[str, tuple[float, float]] = {}
    for run_id, first, last in ledger.database.each(_TIMES):
        root = str(run_id).partition(".")[0]
        opened, moved = found.get(root, (0.0, 0.0))
        opened = _latest(ledger, [(first,)]) if run_id == root else opened
        found[root] = opened, max(moved, _latest(ledger, [(last,)]))
    return found


def _latest(ledger: Ledger, rows: list[Any]) -> float:
    """The highest time in rows; 0 if there is none. Anybody's ledger may have anything in its place."""
    times = [at for (at,) in rows if at is not None]
    if not all(isinstance(at, (int, float)) and abs(at) < float("inf") for at in times):
        raise ledger.database.broken("is damaged: an event has no time")
    return float(max(times, default=0))


def transitions(ledger: Ledger, run_id: str) -> int:
    """How often a run moved on: to another step, to a question or to its end."""
    return int(ledger.database.rows(_TRANSITIONS, (run_id,))[0][0])


def refusals(ledger: Ledger, run_id: str) -> Iterator[dict[str, Any]]:
    """What was noted of each refusal of a run by which no person was refused."""
    for (text,) in ledger.database.each(_REFUSALS, (run_id,)):
        try:
            detail = compact_json.loads(text)
        except (TypeError, ValueError):
            detail = None
        if not isinstance(detail, dict):
            raise ledger.database.broken(f"is damaged: a refusal of run {run_id} is no object")
        yield detail


def _number(ledger: Ledger, where: str) -> int:
    return int(ledger.database.rows(f"{_COUNT} {where}")[0][0])
