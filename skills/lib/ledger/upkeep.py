"""Checks a ledger whole, and takes runs out of it."""

from __future__ import annotations

from skills.lib.ledger import contents
from skills.lib.workflow.state import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from skills.lib.ledger.database import Database
    from skills.lib.ledger.ledger import Ledger


def verify(ledger: Ledger) -> None:
    """Check the file, every checksum, and that replaying the events gives every run as it stands.

    Raises LedgerError at the first thing that does not fit.
    """
    database = ledger.database
    found = database.rows("PRAGMA integrity_check(1)")
    if found != [("ok",)]:
        raise database.broken(f"is damaged: {found[0][0] if found else 'no answer'}")
    for (fingerprint,) in database.rows("SELECT fingerprint FROM definitions"):
        ledger.definition(fingerprint)
    _verify_contents(ledger)
    replayed: dict[str, dict[str, Any]] = {}
    for event in ledger.events():
        if event.change:
            replayed[event.run] = _apply(replayed.get(event.run, {}), event.change)
    # A run of an older format is compared with what it has come to mean.
    replayed = {run_id: Run(**data).to_data() for run_id, data in replayed.items()}
    recorded = {run.id: run.to_data() for run in ledger.every_run()}
    if recorded != replayed:
        odd = sorted(run_id for run_id in {*recorded, *replayed} if recorded.get(run_id) != replayed.get(run_id))
        raise database.broken(f"is damaged: its events do not lead to run {odd[0]} as it stands")


def delete(ledger: Ledger, run_ids: Sequence[str]) -> None:
    """Remove these ended runs, their events, and what no run refers to any more."""
    database = ledger.database
    database.execute("BEGIN IMMEDIATE")
    try:
        for run_id in run_ids:
            database.execute("DELETE FROM runs WHERE id=?", (run_id,))
            database.execute("DELETE FROM events WHERE run=?", (run_id,))
        left = ledger.every_run()
        _forget(database, "definitions", "fingerprint", {run.fingerprint for run in left})
        _forget(database, "contents", "digest", {name for run in left for name in _contents(run, heard=True)})
        database.execute("COMMIT")
    except BaseException:
        database.rollback()
        raise
    database.execute("VACUUM")


def _verify_contents(ledger: Ledger) -> None:
    """Check that the files of each review are there, and have the digest that they are kept by."""
    database = ledger.database
    kept = {name for (name,) in database.rows("SELECT digest FROM contents")}
    for name in kept:
        if contents.digest(ledger.contents(name) or {}) != name:
            raise database.broken(f"is damaged: the files of {name} have another digest")
    for run in ledger.every_run():
        lost = [name for name in _contents(run) if name not in kept]
        if lost:
            raise database.broken(f"is damaged: it has lost the files of a review of run {run.id}")


def _contents(run: Run, heard: bool = False) -> list[str]:
    """The digests of the files of its reviews; with ``heard`` also as a person last let them be.

    An earlier version did not keep the latter when runs were pruned.
    """
    found = [*run.handed.values(), *(review.get("content") for review in run.reviews.values())]
    if heard:
        found += [review.get("heard", {}).get("content") for review in run.reviews.values()]
    return [name for name in found if name]


def _forget(database: Database, table: str, key: str, kept: Collection[Any]) -> None:
    """Remove the rows of a table that no run refers to any more."""
    for (name,) in database.rows(f"SELECT {key} FROM {table}"):  # noqa: S608  names of ours
        if name not in kept:
            database.execute(f"DELETE FROM {table} WHERE {key}=?", (name,))  # noqa: S608


def _apply(data: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    states = {**data.get("state", {}), **change.get("state", {})}
    return {**data, **change, "state": states}
