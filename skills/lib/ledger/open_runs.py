"""The open runs of a workflow, which an opening compares itself with."""

from __future__ import annotations

from skills.lib.compact_json import digest
from skills.lib.ledger.ledger import OPEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.ledger.ledger import Ledger
    from skills.lib.model.run import Run

_IDS, _COUNT = "SELECT id FROM runs WHERE", "SELECT count(*) FROM runs WHERE"


def like(ledger: Ledger, workflow: str, params: dict[str, Any]) -> list[Run]:
    """The open runs of that workflow with these parameters that no parent started, in the order of their ids.

    A run that damage hides is an error.
    """
    with ledger.database.reading():
        ids = ledger.database.open_ids(workflow, digest(params))
        found = [ledger.run(run_id) for run_id in ids]
        if None in found:
            raise ledger.lost(ids[found.index(None)])
    return [run for run in found if run is not None]


def ids(ledger: Ledger, workflow: str, limit: int | None = None) -> list[str]:
    """The ids of the runs of that workflow that have not ended and that no parent started; at most so many."""
    values = (workflow,) if limit is None else (workflow, limit)
    rows = ledger.database.rows(f"{_IDS} {OPEN} AND workflow=?{'' if limit is None else ' LIMIT ?'}", values)
    return sorted(run_id for (run_id,) in rows)


def count(ledger: Ledger, workflow: str) -> int:
    """How many runs of that workflow have not ended and no parent started."""
    return int(ledger.database.rows(f"{_COUNT} {OPEN} AND workflow=?", (workflow,))[0][0])
