"""Runs and their events: read with their checksums checked, written in one transaction a transition."""

from __future__ import annotations

import os
import time

from skills.lib import compact_json, status_files
from skills.lib.compact_json import checksum, digest
from skills.lib.errors import UsageError
from skills.lib.ledger import database
from skills.lib.ledger.database import Database
from skills.lib.model.run import RUN_LIMIT, Run
from skills.lib.model.texts import check_tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from skills.lib.engine.decision import Move
    from skills.lib.errors import LedgerError
    from skills.lib.ledger.history import Event
    from skills.lib.ledger.store import Store

_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
_RUNS = "SELECT id, workflow, parent, status, version, data, sum FROM runs"
_MOVE = "UPDATE runs SET version=?, data=?, sum=? WHERE id=? AND version=?"
_LIST = "UPDATE runs SET version=?, data=?, sum=?, workflow=?, parent=?, status=?, params=? WHERE id=? AND version=?"
OPEN = "parent IS NULL AND status IN ('open','waiting')"
_AT_WORK = "SELECT id FROM runs WHERE parent=? AND status IN ('open','waiting') ORDER BY id"
# What a run is found by, and so in the indexes.
_LISTED = ("workflow", "parent", "status", "params")


def is_shared() -> bool:
    """True if the environment names a database that machines share: ledgers are there, and in no file."""
    return bool(os.environ.get("LOCKSTEP_LEDGER_URL"))


class Stale(Exception):
    """The run has moved since it was read: another process won. Read it again."""


def new_id() -> str:
    """A new run id: eight letters and digits that are hard to mistake, 39 bits."""
    return "".join([_ALPHABET[byte % len(_ALPHABET)] for byte in os.urandom(8)])


def keyed_id(key: str) -> str:
    """The id of the run that a key opens: sixteen letters and digits, 79 bits of the key's digest."""
    number, letters = int(checksum(key.encode()), 16), ""
    for _ in range(16):
        number, at = divmod(number, len(_ALPHABET))
        letters += _ALPHABET[at]
    return letters


class Ledger:
    """The record of one home folder. Raises LedgerError wherever it cannot be trusted or used."""

    def __init__(self, home: str | Store, create: bool = True) -> None:
        """Open the ledger of a home folder, or take the one in a database of another kind.

        If LOCKSTEP_LEDGER_URL is set, the ledger of a folder is in the database that it names.
        """
        if not isinstance(home, str):
            self.database: Store = home
        elif is_shared():
            from skills.lib.ledger.postgres.database import open_home  # with psycopg

            self.database = open_home(home, create)
        else:
            self.database = Database(home, create)

    @classmethod
    def existing(cls, home: str) -> Ledger | None:
        """The record of a home folder; None if it never had one."""
        if is_shared():
            from skills.lib.ledger.postgres.database import existing  # with psycopg

            found = existing(home)
            return None if found is None else cls(found)
        return cls(home, create=False) if database.exists(home) else None

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def path(self) -> str:
        """The file of the ledger; of a shared one, what messages call it."""
        return self.database.path

    def run(self, run_id: str) -> Run | None:
        """The run of that id; None only if nothing else in the ledger names it: damage never looks like absence."""
        rows = self.database.rows(f"{_RUNS} WHERE id=?", (run_id,))
        if rows:
            return self._run(rows[0])
        name, _, number = run_id.rpartition(".")
        parent = self.run(name) if status_files.is_id(name) else None
        if (
            (parent is not None and number.isdecimal() and 0 < int(number[:9]) <= parent.born)
            or self.database.rows("SELECT 1 FROM events WHERE run=? AND change<>'{}' LIMIT 1", (run_id,))
            or self.database.rows("SELECT 1 FROM runs WHERE parent=? LIMIT 1", (run_id,))
        ):
            raise self.lost(run_id)
        return None

    def version(self, run_id: str) -> int | None:
        """The version of the run as it is now, which costs less to read than the run; None if there is no such run."""
        rows = self.database.rows("SELECT version FROM runs WHERE id=?", (run_id,))
        return rows[0][0] if rows else None

    def has(self, run_id: str) -> bool:
        """True if there is anything of that run, be it whole or damaged."""
        sql = "SELECT 1 FROM runs WHERE id=? UNION ALL SELECT 1 FROM events WHERE run=? LIMIT 1"
        return bool(self.database.rows(sql, (run_id, run_id)))

    def runs(self, ids: Sequence[str]) -> list[Run]:
        """The runs of these ids, in their order."""
        found = [self.run(run_id) for run_id in ids]
        if None in found:
            raise self.database.broken("lacks a child run that its parent names", "restore it from a copy")
        return [run for run in found if run is not None]

    def every_run(self, where: str = "1=1", values: Sequence[Any] = ()) -> list[Run]:
        """All runs that an SQL condition admits, checked."""
        return list(self.each_run(where, values))

    def each_run(self, where: str = "1=1", values: Sequence[Any] = ()) -> Iterator[Run]:
        """All runs that an SQL condition admits, checked, one at a time; each is read once in any ledger."""
        self.database.check_pages()
        return map(self._run, self.database.each(f"{_RUNS} WHERE {where}", values))

    def children(self, parent: str, limit: int) -> list[Run]:
        """At most so many of the runs that a run started, checked."""
        rows = self.database.rows(f"{_RUNS} WHERE parent=? LIMIT ?", (parent, limit))
        return [self._run(row) for row in rows]

    def at_work(self, parent: str) -> list[str]:
        """The ids of the sub-agents of a run that have begun and not ended."""
        return [run_id for (run_id,) in self.database.rows(_AT_WORK, (parent,))]

    def definition(self, fingerprint: str) -> dict[str, Any]:
        """The data of the workflow of that fingerprint, as it was when a run of it opened."""
        rows = self.database.rows("SELECT data, sum FROM definitions WHERE fingerprint=?", (fingerprint,))
        try:
            if rows and len(rows[0][0]) <= RUN_LIMIT and digest(rows[0][0]) == rows[0][1]:
                return compact_json.load_object(rows[0][0])
        except (TypeError, ValueError):
            pass
        raise self.database.broken("has lost a workflow's definition", "restore it from a copy")

    def exact_definition(self, fingerprint: str) -> dict[str, Any]:
        """The same data, whose own digest is the fingerprint: whoever forged a ledger can compute the other sums."""
        found = self.definition(fingerprint)
        if digest(found) != fingerprint:
            raise self.database.broken(f"is damaged: the definition {fingerprint} is of another workflow")
        return found

    def contents(self, digest_of_files: str) -> dict[str, str] | None:
        """The files of a review by path, each with its digest; None if the ledger has none of that digest."""
        rows = self.database.rows("SELECT data, sum FROM contents WHERE digest=?", (digest_of_files,))
        if not rows:
            return None
        try:
            if digest(rows[0][0]) == rows[0][1]:
                return compact_json.load_object(rows[0][0])
        except (TypeError, ValueError):
            pass
        raise self.database.broken(f"is damaged: the files of {digest_of_files} have a wrong checksum")

    def commit(
        self,
        before: Run | None,
        move: Move,
        actor: str,
        definition: dict[str, Any] | None = None,
        beside: Sequence[Run] | None = None,
        siblings: Sequence[str] | None = None,
        onward: Sequence[Move] = (),
    ) -> Run:
        """Record a move in one transaction and return the present run. Raises Stale if the run moved meanwhile.

        ``onward`` are moves that follow it without a request of their own, each from where the one before led. Only the
        last of all creates children. Their actor is the script.

        ``before`` is None for a run that is not in the ledger yet; Stale is raised if it is by now. ``beside`` then
        holds what ``open_runs`` gave for it and ``siblings`` the sub-agents at work, as they were when it was decided
        to open the run; Stale is raised too if they are not the same any more.
        """
        moves = [move, *onward]
        last = moves[-1]
        run = last.run
        made = [self._child(run, run.born + at, spec) for at, spec in enumerate(last.create, 1)]
        children = [*run.children, *[child.id for child in made]]
        after = run.changed(children=children, born=run.born + len(made), version=move.run.version + len(moves))
        with self.database:
            if before is None and self.has(after.id):
                raise Stale
            if beside is not None:
                present = self.database.open_ids(run.workflow, digest(run.params))
                if present != [other.id for other in beside]:
                    raise Stale
            if siblings is not None and self.at_work(run.parent or "") != list(siblings):
                raise Stale
            if definition is not None:
                self._keep("definitions", after.fingerprint, definition)
            for name, files in [kept for one in moves for kept in one.contents.items()]:
                self._keep("contents", name, files)
            self._write(before, after)
            at = before
            for number, one in enumerate(moves, 1):
                reached = after if one is last else one.run.changed(version=move.run.version + number)
                by = actor if one is move else "script"
                self._append(after.id, reached.turn, one.kind, by, one.detail, _change(at, reached))
                at = reached
            for child in made:
                self._write(None, child)
                self._append(child.id, 0, "created", "script", {"parent": run.id}, _change(None, child))
            for child_id, status in move.end:
                self._end_child(child_id, status, str(move.detail.get("reason", "")), actor)
        return after

    def note(self, run_id: str, turn: int, kind: str, actor: str, detail: dict[str, Any]) -> None:
        """Record what changes no run: a refusal, a failed check. Does nothing for a run that was removed meanwhile."""
        with self.database:
            if self.version(run_id) is not None:
                self._append(run_id, turn, kind, actor, detail, {})

    def is_paused(self, run: Run) -> bool:
        """True if a person paused the run, and it has neither moved nor been unpaused since."""
        sql = (
            "SELECT kind FROM events WHERE run=? AND turn=? AND kind IN ('paused','unpaused') ORDER BY seq DESC LIMIT 1"
        )
        return bool(self.database.rows(sql, (run.id, run.turn)) == [("paused",)])

    def events(self, run_id: str | None = None) -> list[Event]:
        """The events of a run (of all runs without an id) in sequence, their chain checked."""
        return list(self.each_event(run_id))

    def each_event(self, run_id: str | None = None) -> Iterator[Event]:
        """The events of a run (of all runs without an id) one at a time, their chain checked."""
        from skills.lib.ledger import history  # no step reads events

        return history.each(self.database, run_id)

    def events_after(self, cursor: int = 0, limit: int = 1_000) -> list[Event]:
        """At most so many events of all runs whose number is higher than ``cursor``, in order, their chains checked.

        The number of the last one is the cursor to go on with. It stays valid if runs are removed: no event gets the
        number of another one. Raises UsageError for a number below 0.
        """
        from skills.lib.ledger import history  # no step reads events

        return history.after(self.database, cursor, limit)

    def opening(self, run_id: str) -> dict[str, Any]:
        """What was noted when a run opened; empty if it has not begun."""
        return next((event.detail for event in self.each_event(run_id) if event.kind == "opened"), {})

    def lost(self, run_id: str) -> LedgerError:
        """The error for a run that something in the ledger names, and that is not there."""
        return self.database.broken(f"is damaged: it has lost the run {run_id!r:.80}", "restore it from a copy")

    def close(self, exiting: bool = False) -> None:
        """Close the ledger; ``exiting`` as for the database."""
        self.database.close(exiting)

    def _run(self, row: Any) -> Run:
        *fields, total = row
        if not status_files.is_id(str(fields[0])):
            # It would be a part of paths: whoever wrote the file can compute sums.
            raise self.database.broken(f"is damaged: {fields[0]!r:.40} is no run's id")
        try:
            if len(fields[5]) <= RUN_LIMIT and total == digest(fields):
                data = compact_json.loads(fields[5])
                check_tree(data, "the run", bounded=False)
                run = Run(**data)
                above, _, number = run.id.rpartition(".")
                is_named = (above or None) == run.parent and (number.isdecimal() or not above)
                if is_named and [run.id, run.workflow, run.parent, run.status, run.version] == fields[:5]:
                    return run
        except (TypeError, ValueError, UsageError):
            pass
        raise self.database.broken(f"is damaged: run {fields[0]!r:.40} has a wrong checksum or field")

    def _write(self, before: Run | None, after: Run) -> None:
        # In its own order: the block that a repeat prints from here is the one that was printed at first.
        made: dict[str, Any] = after.fields()
        try:
            check_tree(made, "the run", bounded=False)
            Run(**made)
        except TypeError as error:  # what could not be read again is not written
            raise UsageError(f"run {after.id} cannot be kept: {error}") from None
        data = compact_json.ordered(made)
        if len(data) > RUN_LIMIT:
            what = f"run {after.id} would have {len(data):,} characters, and a run has {RUN_LIMIT:,} at most"
            raise UsageError(what, remedy="write long values to files, and record the paths of these")
        fields = [after.id, after.workflow, after.parent, after.status, after.version, data]
        total = digest(fields)
        if before is None:
            row = (*fields, total, digest(after.params))
            self.database.execute("INSERT INTO runs VALUES(?,?,?,?,?,?,?,?)", row)
            return
        sql, values = _MOVE, [after.version, data, total]
        if any(getattr(before, name) != getattr(after, name) for name in _LISTED):  # most moves change no index
            sql = _LIST
            values += [after.workflow, after.parent, after.status, digest(after.params)]
        if self.database.execute(sql, (*values, before.id, before.version)).rowcount != 1:
            raise Stale

    def _append(
        self, run_id: str, turn: int, kind: str, actor: str, detail: dict[str, Any], change: dict[str, Any]
    ) -> None:
        rows = self.database.rows("SELECT sum FROM events WHERE run=? ORDER BY seq DESC LIMIT 1", (run_id,))
        tip = rows[0][0] if rows else ""
        fields = [run_id, turn, kind, actor, time.time(), compact_json.ordered(detail), compact_json.ordered(change)]
        self.database.execute(
            "INSERT INTO events(run, turn, kind, actor, at, detail, change, sum) VALUES(?,?,?,?,?,?,?,?)",
            (*fields, digest([tip, *fields])),
        )

    def _keep(self, table: str, key: str, data: object) -> None:
        """Add a definition, or the files of a review, with its checksum; nothing changes if it is there."""
        text = compact_json.ordered(data)  # outcomes are printed in their order
        self.database.execute(f"INSERT INTO {table} VALUES(?,?,?) ON CONFLICT DO NOTHING", (key, text, digest(text)))

    def _child(self, parent: Run, number: int, spec: dict[str, Any]) -> Run:
        script = parent.script
        if spec.get("script") and script:
            script = os.path.normpath(os.path.join(os.path.dirname(script), spec["script"]))
        return Run(
            id=f"{parent.id}.{number}",
            workflow=f"{parent.workflow}.{spec['step']}",
            script=script,
            project=parent.project,
            parent=parent.id,
            spec=spec,
            status="pending",
            turn=0,
            version=1,
        )

    def _end_child(self, child_id: str, status: str, reason: str, actor: str) -> None:
        child = self.run(child_id)
        if child is None or child.ended:
            raise Stale
        last = {**child.last, "reason": reason}
        ended = child.changed(status=status, last=last, version=child.version + 1)
        self._write(child, ended)
        self._append(child_id, child.turn, status, actor, {"reason": reason}, _change(child, ended))


def _change(before: Run | None, after: Run) -> dict[str, Any]:
    """The fields and the states of steps that differ: replaying them over ``before`` gives ``after``."""
    old, states = (before.fields(), before.state) if before else ({}, {})
    change = {name: value for name, value in after.fields().items() if name != "state" and old.get(name, ...) != value}
    change["state"] = {step: value for step, value in after.state.items() if states.get(step) != value}
    return change
