"""psycopg, or the error that says how to install it."""

from __future__ import annotations

import sys

from skills.lib.errors import EnvironmentProblem

if sys.flags.no_site:  # a host's hook begins without the packages of its Python
    import site

    site.main()

try:
    import psycopg
    import psycopg.conninfo
except ImportError as error:
    raise EnvironmentProblem(
        f"LOCKSTEP_LEDGER_URL is set, and {sys.executable} has no psycopg: {error}",
        remedy="pip install 'lockstep-skills[fleet]' for that Python, or unset LOCKSTEP_LEDGER_URL",
    ) from error

__all__ = ["psycopg"]
