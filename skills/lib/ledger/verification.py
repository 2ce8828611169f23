"""Checks that a ledger is whole, and that the events of each run lead to it as it is."""

from __future__ import annotations

from skills.lib.compact_json import digest
from skills.lib.model.run import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skills.lib.errors import LedgerError
    from skills.lib.ledger.ledger import Ledger


# The events of runs that there are not.
OF_NO_RUN = "SELECT run FROM events WHERE NOT EXISTS (SELECT 1 FROM runs WHERE id=run)"


def verify(ledger: Ledger) -> None:
    """Check the file, every checksum, and that replaying the events gives the present state of every run.

    Raises LedgerError for the first fault.
    """
    with ledger.database.reading():  # what a process writes meanwhile is no damage
        ledger.database.check()
        for (fingerprint,) in ledger.database.each("SELECT fingerprint FROM definitions"):
            ledger.definition(fingerprint)
        _verify_contents(ledger)
        for run in ledger.each_run():
            verify_run(ledger, run)
            if not ledger.database.rows("SELECT 1 FROM runs WHERE id=? AND params=?", (run.id, digest(run.params))):
                raise ledger.database.broken(f"is damaged: run {run.id} is listed with other parameters")
        for (run_id,) in ledger.database.rows(f"{OF_NO_RUN} LIMIT 1"):
            raise ledger.database.broken(f"is damaged: its events do not lead to run {run_id} as it stands")


def verify_tree(ledger: Ledger, run_id: str) -> None:
    """Check a run and the runs below it: events, definitions, and the files of the reviews.

    Raises LedgerError for the first fault.
    """
    with ledger.database.reading():  # nobody moves a run between the reading of its row and of its events
        tree = ledger.runs([run_id])
        for run in tree:
            verify_run(ledger, run)
            if any(ledger.contents(name) is None for name in contents_of(run)):
                raise _without_files(ledger, run)
            tree += ledger.runs(_children(run))


def verify_run(ledger: Ledger, run: Run) -> None:
    """Check that the events of a run lead to it as it is, and that what it refers to is there."""
    replayed: dict[str, Any] = {}
    try:
        for event in ledger.each_event(run.id):
            if event.change:
                replayed = _apply(replayed, event.change)
        # A run of an older format is compared in the present format.
        replayed = Run(**replayed).fields()
    except TypeError:
        raise ledger.database.broken("is damaged: its events lead to what is no run") from None
    if replayed != run.fields():
        raise ledger.database.broken(f"is damaged: its events do not lead to run {run.id} as it stands")
    if run.fingerprint and not _has(ledger, "definitions", "fingerprint", run.fingerprint):
        raise ledger.database.broken(f"is damaged: it has lost the definition of run {run.id}")
    for name in [run.parent, *_children(run)]:
        if name and not _has(ledger, "runs", "id", name):
            raise ledger.database.broken(f"is damaged: it has lost the run {name}, which run {run.id} names")
    if not all(_has(ledger, "contents", "digest", name) for name in contents_of(run)):
        raise _without_files(ledger, run)


def _has(ledger: Ledger, table: str, key: str, name: str) -> bool:
    return bool(ledger.database.rows(f"SELECT 1 FROM {table} WHERE {key}=?", (name,)))  # noqa: S608  names of ours


def _without_files(ledger: Ledger, run: Run) -> LedgerError:
    return ledger.database.broken(f"is damaged: it has lost the files of a review of run {run.id}")


def _verify_contents(ledger: Ledger) -> None:
    """Check that the files of each review have the digest that they are kept by."""
    from skills.lib.ledger import contents  # it brings re and git, which a gate's step does without

    for (name,) in ledger.database.each("SELECT digest FROM contents"):
        if contents.digest(ledger.contents(name) or {}) != name:
            raise ledger.database.broken(f"is damaged: the files of {name} have another digest")


def _children(run: Run) -> list[str]:
    """The ids of all sub-agents' runs that the run ever had."""
    return [f"{run.id}.{number}" for number in range(1, run.born + 1)]


def contents_of(run: Run, heard: bool = False) -> set[str]:
    """The digests of the files of its reviews; with ``heard`` also as a person last let them be.

    An earlier version did not keep the latter when runs were pruned.
    """
    found = [*run.handed.values(), *(review.get("content") for review in run.reviews.values())]
    if heard:
        found += [review.get("heard", {}).get("content") for review in run.reviews.values()]
    return {name for name in found if name}


def _apply(data: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    states = {**data.get("state", {}), **change.get("state", {})}
    return {**data, **change, "state": states}
