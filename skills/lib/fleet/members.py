"""The workers of a fleet and what each follows: signs of life by the clock of the database, leases, locks.

Each worker promises its next sign of life; once that is overdue, others take over what it followed. A lease has a
token that rises with each taking, so who lost a lease and took it again is told apart.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from skills.lib.errors import LedgerError, RefusedError
from skills.lib.fleet.places import Place, close
from skills.lib.record import Record

_TABLES = (
    "CREATE TABLE IF NOT EXISTS fleet_workers(worker TEXT PRIMARY KEY, machine TEXT NOT NULL, pid BIGINT NOT NULL, "
    "slots INTEGER NOT NULL, seen DOUBLE PRECISION NOT NULL, until DOUBLE PRECISION NOT NULL, drains INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS fleet_leases(run TEXT PRIMARY KEY, worker TEXT NOT NULL, token BIGINT NOT NULL, "
    "tries INTEGER NOT NULL)",
    "CREATE TABLE IF NOT EXISTS fleet_locks(name TEXT PRIMARY KEY, worker TEXT NOT NULL, "
    "until DOUBLE PRECISION NOT NULL)",
)
_ALONE = "SELECT pg_advisory_xact_lock(7305808869230178412)"
_CLOCKS = {
    "sqlite": "((julianday('now') - 2440587.5) * 86400.0)",
    "postgresql": "CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)",
}
_JOIN = (
    "INSERT INTO fleet_workers VALUES(:worker, :machine, :pid, :slots, {now}, {now} + :patience, 0) "
    "ON CONFLICT(worker) DO UPDATE SET machine=:machine, pid=:pid, slots=:slots, seen={now}, "
    "until={now} + :patience, drains=0"
)
_SEEN = "UPDATE fleet_workers SET seen={now}, until={now} + :patience WHERE worker=:worker RETURNING drains"
_TAKE = (
    "INSERT INTO fleet_leases VALUES(:run, :worker, 1, 1) ON CONFLICT(run) DO UPDATE SET worker=:worker, "
    "token=fleet_leases.token + 1, tries=fleet_leases.tries + 1 WHERE fleet_leases.worker IN ('', :worker) OR NOT "
    "EXISTS (SELECT 1 FROM fleet_workers w WHERE w.worker=fleet_leases.worker AND w.until > {now}) "
    "RETURNING token, tries"
)
_KEEP = "UPDATE fleet_leases SET tries=0 WHERE run=:run AND worker=:worker AND token=:token RETURNING run"
_RELEASE = "UPDATE fleet_leases SET worker='' WHERE run=:run AND worker=:worker AND token=:token"
_CLEAR = "UPDATE fleet_leases SET worker='', tries=0 WHERE run=:run AND worker=:worker AND token=:token"
_DRAIN = "UPDATE fleet_workers SET drains=1 WHERE until > {now} AND (worker=:worker OR :worker='') RETURNING worker"
_LOCK = (
    "INSERT INTO fleet_locks VALUES(:name, :worker, {now} + :seconds) ON CONFLICT(name) DO UPDATE SET worker=:worker, "
    "until={now} + :seconds WHERE fleet_locks.worker=:worker OR fleet_locks.until <= {now} OR NOT EXISTS "
    "(SELECT 1 FROM fleet_workers w WHERE w.worker=fleet_locks.worker AND w.until > {now}) RETURNING worker"
)


class Member(Record):
    """A worker: its machine and process, how many runs it follows at a time, and which ones.

    ``seen`` is how many seconds ago it gave its last sign of life.
    """

    worker: str
    machine: str
    pid: int
    slots: int
    seen: float
    is_live: bool
    drains: bool
    runs: tuple[str, ...] = ()


class Lease(Record):
    """The right to follow a run; ``tries`` is how often it was taken since the run last moved."""

    run: str
    worker: str
    token: int
    tries: int


class Members:
    """The workers of one fleet, in a database of SQLite or PostgreSQL. Any number of threads may use it.

    Raises LedgerError if the database cannot be used.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        place.make()
        self._engine = place.engine()
        self._now = _CLOCKS[self._engine.dialect.name]
        with self._begun() as connection:
            if place.schema:
                connection.execute(sa.text(_ALONE))  # two that make one table at once would fail
                connection.execute(sa.text(f'CREATE SCHEMA IF NOT EXISTS "{place.schema}"'))
            for table in _TABLES:
                connection.execute(sa.text(table))

    def close(self) -> None:
        close(self._engine)

    def begin(self, worker: str) -> None:
        """Give back what an earlier process of that name held: the new one has none of its sessions.

        Raises RefusedError if a worker of another machine has the name.
        """
        rows = self._rows("SELECT machine FROM fleet_workers WHERE worker=:worker AND until > {now}", worker=worker)
        if rows and rows[0][0] != os.uname().nodename:
            raise RefusedError(
                f"a worker of the name {worker} is at work on {rows[0][0]}", remedy="give another one: --name NAME"
            )
        self._rows("UPDATE fleet_leases SET worker='' WHERE worker=:worker", worker=worker)

    def join(self, worker: str, slots: int, patience: float) -> None:
        """Note that a worker is there; others take over from it once ``patience`` seconds pass without a sign."""
        values = {"machine": os.uname().nodename, "pid": os.getpid(), "slots": slots, "patience": patience}
        self._rows(_JOIN, worker=worker, **values)

    def sign(self, worker: str, patience: float) -> bool | None:
        """Give a sign of life; True if the worker is to drain, None if it is not known here any more."""
        rows = self._rows(_SEEN, worker=worker, patience=patience)
        return bool(rows[0][0]) if rows else None

    def leave(self, worker: str) -> None:
        """Note that a worker has ended: what it followed can be taken over at once."""
        self._rows("UPDATE fleet_leases SET worker='' WHERE worker=:worker", worker=worker)
        self._rows("DELETE FROM fleet_workers WHERE worker=:worker", worker=worker)

    def drain(self, worker: str = "") -> list[str]:
        """Ask a worker, or all of them, to take nothing new; the names of those that are asked."""
        return sorted(row[0] for row in self._rows(_DRAIN, worker=worker))

    def members(self) -> list[Member]:
        """The workers by name, with the runs that each has the lease of."""
        runs: dict[str, list[str]] = {}
        for run, worker in self._rows("SELECT run, worker FROM fleet_leases WHERE worker<>'' ORDER BY run"):
            runs.setdefault(worker, []).append(run)
        rows = self._rows(
            "SELECT worker, machine, pid, slots, {now} - seen, until > {now}, drains FROM fleet_workers ORDER BY worker"
        )
        return [
            Member(worker, machine, pid, slots, float(seen), bool(live), bool(drains), tuple(runs.get(worker, ())))
            for worker, machine, pid, slots, seen, live, drains in rows
        ]

    def take(self, run: str, worker: str) -> Lease | None:
        """Take the lease of a run; None if a worker that is alive has it."""
        rows = self._rows(_TAKE, run=run, worker=worker)
        return Lease(run, worker, int(rows[0][0]), int(rows[0][1])) if rows else None

    def keeps(self, lease: Lease) -> bool:
        """True if nobody else took the lease; the run moves then, so its tries are counted anew."""
        return bool(self._rows(_KEEP, **_named(lease)))

    def has(self, lease: Lease) -> bool:
        """True if nobody else took the lease."""
        return self.held(lease.worker).get(lease.run) == lease.token

    def release(self, lease: Lease, counts: bool = True) -> None:
        """Give a lease back; the try does not count unless it ``counts``."""
        self._rows(_RELEASE if counts else _CLEAR, **_named(lease))

    def held(self, worker: str) -> dict[str, int]:
        """The tokens of the leases that a worker has, by run."""
        rows = self._rows("SELECT run, token FROM fleet_leases WHERE worker=:worker", worker=worker)
        return {run: int(token) for run, token in rows}

    def lock(self, name: str, worker: str, seconds: float) -> bool:
        """True if this worker does a job for so long, which nobody else does then, unless the worker dies."""
        return bool(self._rows(_LOCK, name=name, worker=worker, seconds=seconds))

    def _rows(self, sql: str, **values: Any) -> list[Any]:
        """Run one statement in a transaction of its own; the rows that it returns."""
        with self._begun() as connection:
            done = connection.execute(sa.text(sql.replace("{now}", self._now)), values)
            return list(done.fetchall()) if done.returns_rows else []

    @contextlib.contextmanager
    def _begun(self) -> Iterator[sa.Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except SQLAlchemyError as error:
            what = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
            raise LedgerError(
                f"the workers' database {self._place.shown} cannot be used: {what:.300}",
                remedy="see that it is there and can be written; the workers go on once it can",
            ) from error


def _named(lease: Lease) -> dict[str, Any]:
    return {"run": lease.run, "worker": lease.worker, "token": lease.token}
