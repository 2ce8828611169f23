"""A ledger that many machines share: a database of PostgreSQL, by psycopg. Imported only if a URL names one."""
