"""The append-only record of runs, on SQLite from the standard library, or on PostgreSQL."""

from skills.lib.ledger.ledger import Ledger, Stale, is_shared, keyed_id, new_id

__all__ = ["Ledger", "Stale", "is_shared", "keyed_id", "new_id"]
