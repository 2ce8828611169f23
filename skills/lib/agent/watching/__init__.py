"""What happens in sessions, kept beside the ledger and shown by the reader's role."""
