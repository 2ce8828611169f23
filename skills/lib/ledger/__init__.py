"""The append-only record of runs, on SQLite from the standard library."""

from skills.lib.ledger.ledger import Ledger, Stale, keyed_id, new_id

__all__ = ["Ledger", "Stale", "keyed_id", "new_id"]
