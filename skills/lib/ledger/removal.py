"""Removes runs that ended from a ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skills.lib.ledger.verification import contents_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Any

    from skills.lib.ledger.ledger import Ledger


def remove(ledger: Ledger, run_ids: Sequence[str]) -> None:
    """Remove these ended runs, their events, and the definitions that no run refers to any more."""
    with ledger.database:
        for run_id in run_ids:
            ledger.database.execute("DELETE FROM runs WHERE id=?", (run_id,))
            ledger.database.execute("DELETE FROM events WHERE run=?", (run_id,))
        fingerprints: set[str] = set()
        files: set[str] = set()
        for run in ledger.each_run():
            fingerprints.add(run.fingerprint)
            files |= contents_of(run, heard=True)
        _forget(ledger, "definitions", "fingerprint", fingerprints)
        _forget(ledger, "contents", "digest", files)
    ledger.database.compact()


def _forget(ledger: Ledger, table: str, key: str, kept: Collection[Any]) -> None:
    """Remove the rows of a table that no run refers to any more."""
    for (name,) in ledger.database.rows(f"SELECT {key} FROM {table}"):  # noqa: S608  names of ours
        if name not in kept:
            ledger.database.execute(f"DELETE FROM {table} WHERE {key}=?", (name,))  # noqa: S608
