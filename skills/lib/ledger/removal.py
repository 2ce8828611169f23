"""Removes runs from a ledger: those that ended, and those that cannot be read any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills.lib.errors import LedgerError, RefusedError
from skills.lib.ledger import history
from skills.lib.ledger.verification import OF_NO_RUN, contents_of, verify_run

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import Any

    from skills.lib.ledger.ledger import Ledger
    from skills.lib.model.run import Run

_GOES_ON = "SELECT 1 FROM runs WHERE id=? AND status IN ('open','waiting','pending')"


def remove(ledger: Ledger, run_ids: Sequence[str]) -> None:
    """Remove these ended runs, their events, and the definitions that no run refers to any more.

    Raises RefusedError, and removes nothing, if one of the runs goes on.
    """
    _remove(ledger, run_ids, ended=True)


def remove_unreadable(ledger: Ledger, run_ids: Sequence[str]) -> None:
    """Remove these runs, which ``unreadable`` gave, whatever they are at; the rest as ``remove`` does."""
    _remove(ledger, run_ids, ended=False)


def unreadable(ledger: Ledger) -> dict[str, tuple[str, list[str]]]:
    """The runs that cannot be read or whose events do not lead to them, by the run that no other one started.

    Each has the first fault, and the ids of all runs of its tree: a run without one of these is damaged, too. Raises
    LedgerError if the file itself is not whole: then no run can be taken out.
    """
    with ledger.database.reading():
        ledger.database.check()
        ids = [run_id for (run_id,) in ledger.database.rows("SELECT id FROM runs ORDER BY id")]
        ids += [run_id for (run_id,) in ledger.database.rows(f"{OF_NO_RUN} GROUP BY run")]
        trees: dict[str, list[str]] = {}
        for run_id in ids:
            trees.setdefault(_root(run_id), []).append(run_id)
        found = ((root, _fault(ledger, tree), tree) for root, tree in trees.items())
        return {root: (fault, tree) for root, fault, tree in found if fault}


def _root(run_id: Any) -> Any:
    return run_id.partition(".")[0] if isinstance(run_id, str) else run_id


def _fault(ledger: Ledger, run_ids: Iterable[Any]) -> str:
    """The first fault of these runs; empty if there is none."""
    for run_id in run_ids:
        try:
            run = ledger.run(run_id) if isinstance(run_id, str) else None
            if run is None:
                return f"there are events of {run_id!r:.80}, and no such run"
            verify_run(ledger, run)
            if run.fingerprint:
                ledger.definition(run.fingerprint)
            for digest in contents_of(run):
                ledger.contents(digest)
        except LedgerError as error:
            return error.what
    return ""


def _remove(ledger: Ledger, run_ids: Sequence[Any], ended: bool) -> None:
    """Remove runs in one transaction, before which all others are read: nobody waits for that.

    What a run refers to that opens meanwhile stays, for its events come after those that were there.
    """
    database, removed = ledger.database, set(run_ids)
    with database.reading():
        last = history.last(database)
        kept = _referred(run for run in _readable(ledger, ended) if run.id not in removed)
    with database:
        for run_id in run_ids:
            if ended and database.rows(_GOES_ON, (run_id,)):
                raise RefusedError(f"run {run_id} goes on: its record stays", remedy="abandon it first")
            database.execute("DELETE FROM runs WHERE id=?", (run_id,))
            database.execute("DELETE FROM events WHERE run=?", (run_id,))
        later = [run_id for (run_id,) in database.rows("SELECT DISTINCT run FROM events WHERE seq>?", (last,))]
        for names, more in zip(kept, _referred(run for run in map(ledger.run, later) if run), strict=True):
            names |= more
        _forget(ledger, "definitions", "fingerprint", kept[0])
        _forget(ledger, "contents", "digest", kept[1])
    database.compact()


def _readable(ledger: Ledger, all_are: bool) -> Iterable[Run]:
    """All runs; those that can be read, unless all have to be."""
    if all_are:
        yield from ledger.each_run()
        return
    for (run_id,) in ledger.database.rows("SELECT id FROM runs"):
        try:
            run = ledger.run(run_id)
        except LedgerError:
            continue
        if run is not None:
            yield run


def _referred(runs: Iterable[Run]) -> tuple[set[str], set[str]]:
    """The fingerprints of the definitions, and the digests of the files, that runs refer to."""
    fingerprints: set[str] = set()
    files: set[str] = set()
    for run in runs:
        fingerprints.add(run.fingerprint)
        files |= contents_of(run, heard=True)
    return fingerprints, files


def _forget(ledger: Ledger, table: str, key: str, kept: Collection[Any]) -> None:
    """Remove the rows of a table that no run refers to any more."""
    for (name,) in ledger.database.rows(f"SELECT {key} FROM {table}"):  # noqa: S608  names of ours
        if name not in kept:
            ledger.database.execute(f"DELETE FROM {table} WHERE {key}=?", (name,))  # noqa: S608
