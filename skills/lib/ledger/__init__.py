"""The append-only record of runs, on SQLite from the standard library."""

from skills.lib.ledger.ledger import Event, Ledger, Stale, new_id

__all__ = ["Event", "Ledger", "Stale", "new_id"]
