"""The append-only record of runs, on SQLite from the standard library."""

from skills.lib.ledger.ledger import Event, Ledger, Stale, keyed_id, new_id

__all__ = ["Event", "Ledger", "Stale", "keyed_id", "new_id"]
