"""The files that a session keeps beside the ledger."""
