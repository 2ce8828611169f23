"""Many runs by workers, on one machine or several: the ledger is the truth, a queue of DBOS says who follows what."""
